import { health } from "../../dashboards/health.ts";
import { series, type WorldSeries } from "../alerts/world.ts";
import { testPanelNumbers } from "./panelNumbers.ts";

const scraped = (name: string, value: number | string): WorldSeries => ({
  name,
  labels: { instance: "10.0.1.1:10836", pod: "fairlead-0", job: "fairlead" },
  value,
});

testPanelNumbers(health, [
  {
    panel: "Replicas",
    why: "one of each cluster, and a second one in the east",
    world: [
      {
        name: "fairlead_build_info",
        labels: { cluster: "east", version: "1", node_version: "24", instance: "10.0.1.2:10836", pod: "fairlead-1" },
        value: 1,
      },
    ],
    shows: { east: 2, west: 1 },
  },
  { panel: "Age of the numbers", why: "the last cycle ended just now", world: [], shows: { east: 0, west: 0 } },
  {
    panel: "Version",
    why: "the legend says it",
    world: [],
    variables: { cluster: "east" },
    shows: { "1 (Node.js 24)": 1 },
  },
  { panel: "Series left out", why: "none", world: [], shows: { east: 0, west: 0 } },
  {
    panel: "Duration of cycles",
    why: "join takes 2 s and collect 1 s, always",
    world: [series("fairlead_cycle_duration_seconds", { cluster: "east", stage: "collect" }, 1)],
    shows: {
      "p50 (east)": 3,
      "p95 (east)": 3,
      "p50 (west)": 2,
      "p95 (west)": 2,
    },
  },
  {
    panel: "Usable sources",
    why: "one of two",
    world: [
      series("fairlead_source_up", { cluster: "east", source: "kubernetes" }, 1),
      series("fairlead_source_up", { cluster: "east", source: "dcgm" }, 0),
    ],
    shows: { "kubernetes (east)": 1, "dcgm (east)": 0 },
  },
  {
    panel: "Signals of GPUs, by pool",
    why: "a pool without power and a pool that has everything but clock reasons",
    world: [
      series("fairlead_signal_gpus", { cluster: "east", pool: "H100", signal: "tensor_active" }, 8),
      series("fairlead_signal_gpus", { cluster: "east", pool: "H100", signal: "power" }, 8),
      series("fairlead_signal_gpus", { cluster: "east", pool: "L4", signal: "tensor_active" }, 4),
      series("fairlead_signal_gpus", { cluster: "east", pool: "L4", signal: "power" }, 0),
      series("fairlead_stall_unknown_gpus", { cluster: "east", pool: "H100", reason: "no_power" }, 0),
      series("fairlead_stall_unknown_gpus", { cluster: "east", pool: "L4", reason: "no_power" }, 3),
      series("fairlead_stall_unknown_gpus", { cluster: "east", pool: "L4", reason: "shared" }, 1),
    ],
    shows: {
      "Tensor [H100, east]": 8,
      "Power [H100, east]": 8,
      "Tensor [L4, east]": 4,
      "Power [L4, east]": 0,
      "Stall unknown [H100, east]": 0,
      "Stall unknown [L4, east]": 4,
    },
  },
  {
    panel: "Problems",
    why: "two problems of one code",
    world: [
      series("fairlead_problems", { cluster: "east", source: "dcgm", code: "target-down", severity: "warning" }, 2),
    ],
    shows: { "How many [warning, dcgm, target-down, east]": 2 },
  },
  {
    panel: "GPUs that cannot be matched, by pool",
    why: "2 of 8 allocated GPUs are unseen, and 8 have no price; of the other pool all have one and nothing is wrong",
    world: [
      ...[
        { pool: "A100", count: 16 },
        { pool: "L4", count: 4 },
      ].map(({ pool, count }) =>
        series("fairlead_gpus", { cluster: "east", pool, node_pool: "a", capacity_type: "spot", state: "free" }, count),
      ),
      series("fairlead_team_gpus", { cluster: "east", team: "ads", pool: "A100", state: "active" }, 6),
      series("fairlead_team_gpus", { cluster: "east", team: "ads", pool: "A100", state: "unobserved" }, 2),
      series(
        "fairlead_unpriced_gpus",
        { cluster: "east", pool: "A100", node_pool: "a", capacity_type: "spot", reason: "no-price" },
        8,
      ),
      series("fairlead_accounting_imbalance_gpus", { cluster: "east", pool: "A100" }, 0),
    ],
    shows: {
      "All [A100, east]": 16,
      "Allocated [A100, east]": 8,
      "Unseen [A100, east]": 0.25,
      "Without price [A100, east]": 8,
      "Miscounted [A100, east]": 0,
    },
  },
  {
    panel: "GPUs that cannot be matched, by pool",
    why: "two more pods than devices: a pool that is miscounted downwards is shown, too",
    world: [
      series(
        "fairlead_gpus",
        { cluster: "east", pool: "A100", node_pool: "a", capacity_type: "spot", state: "free" },
        16,
      ),
      series("fairlead_accounting_imbalance_gpus", { cluster: "east", pool: "A100" }, -2),
    ],
    shows: {
      "All [A100, east]": 16,
      "Allocated [A100, east]": 0,
      "Without price [A100, east]": 0,
      "Miscounted [A100, east]": -2,
    },
  },
  {
    panel: "Watches begun anew",
    why: "one a minute, for ten minutes; those that the server closed are usual",
    world: [
      series("fairlead_kubernetes_restarts_total", { cluster: "east", resource: "pods", reason: "broken" }, "0+1x#"),
      series("fairlead_kubernetes_restarts_total", { cluster: "east", resource: "pods", reason: "closed" }, "0+9x#"),
    ],
    shows: { "broken (east)": 10 },
  },
  {
    panel: "Memory, by replica",
    why: "as the process says, with the cluster of the Fairlead that runs in it",
    world: [scraped("process_resident_memory_bytes", 2 ** 28)],
    shows: { "fairlead-0 10.0.1.1:10836 (east)": 2 ** 28 },
  },
  {
    panel: "CPU, by replica",
    why: "30 s a minute are half a core, of which 3 s free memory",
    world: [
      scraped("process_cpu_seconds_total", "0+30x#"),
      { ...scraped("nodejs_gc_duration_seconds_sum", "0+1x#"), labels: { ...scraped("", 0).labels, kind: "major" } },
      { ...scraped("nodejs_gc_duration_seconds_sum", "0+2x#"), labels: { ...scraped("", 0).labels, kind: "minor" } },
    ],
    shows: {
      "all: fairlead-0 10.0.1.1:10836 (east)": 0.5,
      "freeing memory: fairlead-0 10.0.1.1:10836 (east)": 0.05,
    },
  },
  {
    panel: "Duration of scrapes",
    why: "pods of two clusters have the same name: a server that holds both says of a scrape which it was",
    world: [
      { cluster: "east", seconds: 1 },
      { cluster: "west", seconds: 2 },
    ].flatMap(({ cluster, seconds }) => {
      const labels = { cluster, instance: "fairlead-0", pod: "fairlead-0", job: "fairlead" };
      return [
        { name: "fairlead_build_info", labels: { ...labels, version: "1", node_version: "24" }, value: 1 },
        { name: "scrape_duration_seconds", labels, value: seconds },
      ];
    }),
    shows: { "fairlead-0 fairlead-0 (east)": 1, "fairlead-0 fairlead-0 (west)": 2 },
  },
]);
