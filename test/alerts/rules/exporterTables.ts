import { recommendation, series, type WorldSeries } from "../world.ts";
import type { AlertTable } from "./alertTable.ts";

const allocated = (cluster: string, pool: string, state: "active" | "unobserved", gpus: number): WorldSeries =>
  series("fairlead_team_gpus", { cluster, team: "ads", pool, state }, gpus);

const unassigned = (cluster: string, gpus: number): WorldSeries =>
  series("fairlead_unassigned_gpus", { cluster }, gpus);

const inCluster = (page: string, cluster: string): string => `fairlead-${page}?var-cluster=${cluster}`;

const repair = recommendation({
  cluster: "east",
  id: "source-1",
  kind: "fix_source",
  title: "start dcgm-exporter on gpu-4",
  gpus: 8,
  pool: "A100",
});

const north = { cluster: "north" };
const build = { ...north, version: "1", node_version: "24" };

/** Whether the rest can be believed. */
export const exporterTables: readonly AlertTable[] = [
  {
    alert: "GpuTelemetryMissing",
    severity: "warning",
    area: "exporter",
    action: "ticket",
    summary: "Allocated GPUs have no telemetry; nobody is called idle there until it is back.",
    step: "1m",
    firesAt: 15,
    quietAt: 14,
    world: [
      allocated("east", "A100", "unobserved", 8),
      allocated("east", "A100", "active", 8),
      allocated("east", "L4", "unobserved", 1),
      allocated("west", "A100", "unobserved", 4),
      ...repair,
    ],
    quiet: {
      "a tenth of what is allocated": [
        allocated("east", "A100", "unobserved", 2),
        allocated("east", "A100", "active", 18),
      ],
      "less than one GPU": [allocated("east", "A100", "unobserved", 0.5)],
    },
    arrivals: [
      {
        labels: { cluster: "east", pool: "A100" },
        description: "There is no telemetry of 8 allocated GPUs of A100 in east.",
        advice: {
          text: "start dcgm-exporter on gpu-4 (shows 8 GPUs again)",
          id: "source-1",
          saving: "No saving is known.",
        },
        dashboard: "fairlead-exporter?var-cluster=east&var-pool=A100",
      },
      {
        labels: { cluster: "east", pool: "L4" },
        description: "There is no telemetry of 1 allocated GPU of L4 in east.",
        advice: null,
        dashboard: "fairlead-exporter?var-cluster=east&var-pool=L4",
      },
      {
        labels: { cluster: "west", pool: "A100" },
        description: "There is no telemetry of 4 allocated GPUs of A100 in west.",
        advice: null,
        dashboard: "fairlead-exporter?var-cluster=west&var-pool=A100",
      },
    ],
  },
  {
    alert: "GpuTeamMappingIncomplete",
    severity: "warning",
    area: "exporter",
    action: "ticket",
    summary: "Many allocated GPUs belong to no team, so shares and costs of teams are incomplete.",
    step: "1m",
    firesAt: 60,
    quietAt: 59,
    world: [
      allocated("east", "A100", "active", 64),
      unassigned("east", 8),
      allocated("west", "A100", "active", 40),
      unassigned("west", 4),
      ...repair,
    ],
    quiet: {
      "a twentieth of what is allocated": [allocated("east", "A100", "active", 160), unassigned("east", 8)],
      "fewer than four GPUs": [allocated("east", "A100", "active", 8), unassigned("east", 3.5)],
      "nothing is allocated": [allocated("east", "A100", "active", 0), unassigned("east", 8)],
    },
    arrivals: [
      {
        labels: { cluster: "east" },
        description: "12.5% of the allocated GPUs in east belong to no team.",
        advice: null,
        dashboard: inCluster("exporter", "east"),
      },
      {
        labels: { cluster: "west" },
        description: "10% of the allocated GPUs in west belong to no team.",
        advice: null,
        dashboard: inCluster("exporter", "west"),
      },
    ],
  },
  {
    alert: "GpuExporterDown",
    severity: "critical",
    area: "exporter",
    action: "page",
    summary: "Fairlead's metrics are gone, or it has never completed a cycle: nothing else here can fire.",
    step: "1m",
    firesAt: 20,
    quietAt: 12,
    world: [
      // Gone after ten minutes; never a complete cycle.
      series("fairlead_build_info", build, "1+0x10 stale"),
      series("fairlead_last_cycle_timestamp_seconds", north, "0+60x10 stale"),
      series("fairlead_build_info", { ...build, cluster: "south" }, "_x12 1+0x#"),
    ],
    quiet: {},
    arrivals: [
      {
        labels: { cluster: "north" },
        description: "Fairlead of north has no metrics, or none of a complete cycle.",
        advice: null,
        dashboard: inCluster("exporter", "north"),
      },
      {
        labels: { cluster: "south" },
        description: "Fairlead of south has no metrics, or none of a complete cycle.",
        advice: null,
        dashboard: inCluster("exporter", "south"),
      },
    ],
  },
  {
    alert: "GpuExporterStale",
    severity: "critical",
    area: "exporter",
    action: "page",
    summary: "Fairlead answers but has not completed a cycle for minutes: what it shows is old.",
    step: "1m",
    firesAt: 22,
    quietAt: 21,
    // The last cycle ends at ten minutes: more than 90 s old from twelve minutes on.
    world: [
      series("fairlead_last_cycle_timestamp_seconds", north, "0+60x10 600+0x#"),
      series("fairlead_last_cycle_timestamp_seconds", { cluster: "south" }, "0+60x10 600+0x#"),
    ],
    quiet: {
      "the age is just not too high": [series("fairlead_last_cycle_timestamp_seconds", north, "-90+60x#")],
    },
    arrivals: [
      {
        labels: { cluster: "north" },
        description: "The last complete cycle of Fairlead of north ended 12m 0s ago.",
        advice: null,
        dashboard: inCluster("exporter", "north"),
      },
      {
        labels: { cluster: "south" },
        description: "The last complete cycle of Fairlead of south ended 12m 0s ago.",
        advice: null,
        dashboard: inCluster("exporter", "south"),
      },
    ],
  },
  {
    alert: "GpuExporterSlow",
    severity: "warning",
    area: "exporter",
    action: "ticket",
    summary: "Fairlead's cycles take almost as long as the time between them.",
    step: "1m",
    firesAt: 30,
    quietAt: 29,
    // With the 2 s of joining that every world has.
    world: [
      series("fairlead_cycle_duration_seconds", { cluster: "east", stage: "collect" }, 23),
      series("fairlead_cycle_duration_seconds", { cluster: "west", stage: "collect" }, 88),
    ],
    quiet: {
      "80 % of the time between cycles": [
        series("fairlead_cycle_duration_seconds", { cluster: "east", stage: "collect" }, 22),
      ],
    },
    arrivals: [
      {
        labels: { cluster: "east" },
        description: "A cycle of Fairlead of east takes 25s (99th percentile).",
        advice: null,
        dashboard: inCluster("exporter", "east"),
      },
      {
        labels: { cluster: "west" },
        description: "A cycle of Fairlead of west takes 1m 30s (99th percentile).",
        advice: null,
        dashboard: inCluster("exporter", "west"),
      },
    ],
  },
  {
    alert: "GpuSeriesLimit",
    severity: "warning",
    area: "exporter",
    action: "ticket",
    summary: "Fairlead leaves series out because its page is at its limit.",
    step: "1m",
    firesAt: 30,
    quietAt: 29,
    world: [
      series("fairlead_covered_seconds_total", north, "0+60x#"),
      series("fairlead_series_dropped", north, 1),
      series("fairlead_covered_seconds_total", { cluster: "south" }, "0+60x#"),
      series("fairlead_series_dropped", { cluster: "south" }, 300),
    ],
    quiet: {},
    arrivals: [
      {
        labels: { cluster: "north" },
        description: "Fairlead of north leaves out 1 series.",
        advice: null,
        dashboard: inCluster("exporter", "north"),
      },
      {
        labels: { cluster: "south" },
        description: "Fairlead of south leaves out 300 series.",
        advice: null,
        dashboard: inCluster("exporter", "south"),
      },
    ],
  },
];
