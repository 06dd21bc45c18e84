import type { GpuModelName } from "../../../simulator/gpuModels.ts";
import { noQueueing } from "../../../simulator/queues/spec.ts";
import type { Habit, LaterFault, NodeSpec, Scenario, WorkloadSpec } from "../../../simulator/scenario.ts";
import { adviceScenario, coming, oneCohort, wholeNodes } from "../../../simulator/scenarios/advice/parts.ts";
import { karpenterLabels, physicalGpus, workloadOf } from "../../../simulator/scenarios/parts.ts";
import type { Price } from "../truthRecord/prices.ts";

const hour = 3_600;
const day = 24 * hour;

/** What the simulated month's nodes cost: whole nodes, USD per hour, by instance type and capacity type. */
export const monthPrices: readonly Price[] = [
  { instanceType: "p5.48xlarge", capacityType: "reserved", perNodeHour: 31.2 },
  { instanceType: "p4de.24xlarge", capacityType: "on-demand", perNodeHour: 27.44 },
  { instanceType: "p4de.24xlarge", capacityType: "spot", perNodeHour: 11.2 },
  { instanceType: "g6.12xlarge", capacityType: "on-demand", perNodeHour: 4.6 },
  { instanceType: "g5.12xlarge", capacityType: "on-demand", perNodeHour: 5.68 },
];

/** Label by which nodes that are kept ready on purpose are marked (Fairlead's own). */
export const warmPoolLabel = "fairlead.dev/warm-pool";

/**
 * A cluster of 18 nodes and 124 GPUs, to be played for a month in steps of two minutes:
 *
 * - five nodes of H100 under Kueue: ads and search share them, search takes back what ads borrowed, so ads is evicted;
 * - six nodes of A100, on demand and spot, whose scheduler spreads services, so that training of whole nodes waits; notebooks
 *   that are left alone, jobs that sleep, services that ask for four GPUs and use one; one node is cordoned;
 * - four nodes of L4 with small jobs of two priorities, one of them without an exporter, one kept warm;
 * - three nodes of A10 that a few reports use;
 * - nodes that are lost for hours.
 */
export function monthScenario(): Scenario {
  return adviceScenario("month", {
    name: "month",
    nodes: nodes(),
    namespaces: ["ads", "search", "vision", "assistants", "notebooks", "tools"].map((name) => ({ name, team: name })),
    queueing: {
      ...noQueueing,
      kueue: oneCohort("h100", "H100", [
        { name: "ads-queue", namespace: "ads", nominal: 16, reclaimWithinCohort: "Never" },
        { name: "search-queue", namespace: "search", nominal: 24, reclaimWithinCohort: "Any" },
      ]),
    },
    placement: "spread",
    habits: [...queued(), ...trainings(), ...services(), ...notebooks(), ...small()],
    laterFaults: lostNodes(),
    warmupSeconds: 2 * day,
    stepSeconds: 120,
    collectionInterval: 60,
  });
}

function nodes(): readonly NodeSpec[] {
  const zone = "eu-west-1a";
  const h100 = { instanceType: "p5.48xlarge", zone, labels: karpenterLabels("reserved", "reserved") };
  const a100 = { instanceType: "p4de.24xlarge", zone, labels: karpenterLabels("training", "on-demand") };
  const l4 = { gpus: 4, instanceType: "g6.12xlarge", zone, labels: karpenterLabels("small", "on-demand") };
  return [
    ...wholeNodes("h100", 5, "H100", h100),
    ...wholeNodes("a100", 3, "A100", a100),
    ...wholeNodes("a100-out", 1, "A100", { ...a100, cordoned: true }),
    ...wholeNodes("a100-spot", 2, "A100", { ...a100, labels: karpenterLabels("training", "spot") }),
    ...wholeNodes("l4", 2, "L4", l4),
    ...wholeNodes("l4-dark", 1, "L4", { ...l4, exporter: null }),
    ...wholeNodes("l4-warm", 1, "L4", { ...l4, labels: { ...l4.labels, [warmPoolLabel]: "true" } }),
    ...wholeNodes("a10", 3, "A10", {
      gpus: 4,
      instanceType: "g5.12xlarge",
      zone,
      labels: karpenterLabels("burst", "on-demand"),
    }),
  ];
}

const busy = (level: number) => ({ kind: "constant", level }) as const;

function gang(team: string, pods: number, gpus: number, priorityClass: string, level: number): WorkloadSpec {
  return workloadOf("PyTorchJob", team, pods, physicalGpus(gpus), busy(level), {
    queue: `${team}-queue`,
    gang: true,
    models: ["H100"],
    priorityClass,
    checkpointSeconds: 1_800,
  });
}

function queued(): readonly Habit[] {
  return [
    coming("ctr", gang("ads", 2, 8, "best-effort", 0.86), {
      initial: 1,
      everySeconds: 10 * hour,
      maxWaiting: 3,
      runSeconds: [5 * hour, 20 * hour],
    }),
    coming("bid", gang("ads", 1, 4, "training", 0.71), {
      initial: 2,
      everySeconds: 5 * hour,
      maxWaiting: 3,
      runSeconds: [hour, 8 * hour],
    }),
    coming("ranker", gang("search", 2, 8, "training", 0.93), {
      initial: 0,
      everySeconds: 14 * hour,
      maxWaiting: 2,
      runSeconds: [4 * hour, 14 * hour],
    }),
    coming("probe", gang("search", 1, 1, "training", 0.55), {
      initial: 1,
      everySeconds: 2 * hour,
      maxWaiting: 6,
      runSeconds: [hour / 2, 5 * hour],
    }),
  ];
}

function trainings(): readonly Habit[] {
  const whole = workloadOf("PyTorchJob", "vision", 1, physicalGpus(8), busy(0.9), {
    models: ["A100"],
    priorityClass: "training",
    checkpointSeconds: 1_800,
  });
  const two = workloadOf("Job", "vision", 1, physicalGpus(2), busy(0.64), {
    models: ["A100"],
    priorityClass: "best-effort",
  });
  return [
    coming("trainer", whole, { initial: 1, everySeconds: 9 * hour, maxWaiting: 3, runSeconds: [3 * hour, 12 * hour] }),
    coming("augment", two, { initial: 2, everySeconds: 4 * hour, maxWaiting: 3, runSeconds: [hour, 6 * hour] }),
  ];
}

function services(): readonly Habit[] {
  const serving = { kind: "day", low: 0.3, high: 0.9 } as const;
  const one = workloadOf("Deployment", "assistants", 2, physicalGpus(1), serving, {
    models: ["A100"],
    priorityClass: "serving",
  });
  const four = workloadOf("Deployment", "assistants", 1, physicalGpus(4), serving, { models: ["A100"], busyGpus: 1 });
  return [
    coming("embedder", one, { initial: 2, everySeconds: 20 * hour, maxWaiting: 1, runSeconds: [day, 3 * day] }),
    coming("oversized", four, { initial: 1, everySeconds: 2 * day, maxWaiting: 1, runSeconds: [2 * day, 5 * day] }),
  ];
}

/** As bare pods: what a StatefulSet belongs to is read by the machine's clock, so hours late in a play of a month. */
function notebooks(): readonly Habit[] {
  const used = workloadOf("Pod", "notebooks", 1, physicalGpus(1), workingHours(), { models: ["A100"] });
  const left = workloadOf("Pod", "notebooks", 1, physicalGpus(2), busy(0), { models: ["A100"] });
  return [
    coming("explore", used, { initial: 3, everySeconds: 12 * hour, maxWaiting: 2, runSeconds: [8 * hour, 2 * day] }),
    coming("forgotten", left, { initial: 1, everySeconds: 2 * day, maxWaiting: 1, runSeconds: [day, 3 * day] }),
  ];
}

/** Weekdays from 08:00 to 11:00 and from 13:00 to 17:00 UTC; the epoch began on a Thursday. */
function workingHours(): WorkloadSpec["activity"] {
  const values = Float64Array.from({ length: 7 * 24 }, (_, i) => {
    const [weekday, at] = [(Math.floor(i / 24) + 3) % 7, i % 24];
    return weekday < 5 && ((at >= 8 && at < 11) || (at >= 13 && at < 17)) ? 0.35 + 0.05 * (at % 7) : 0;
  });
  return { kind: "series", stepSeconds: hour, offset: 0, values };
}

function small(): readonly Habit[] {
  const job = (model: GpuModelName, gpus: number, level: number, priorityClass: string) =>
    workloadOf("Job", "tools", 1, physicalGpus(gpus), busy(level), { models: [model], priorityClass });
  const crawl = job("L4", 1, 0.42, "training");
  const sweep = job("L4", 2, 0.77, "best-effort");
  const asleep = job("A10", 4, 0.01, "training");
  const report = job("A10", 2, 0.6, "training");
  return [
    coming("crawl", crawl, { initial: 4, everySeconds: 1.1 * hour, maxWaiting: 4, runSeconds: [hour, 10 * hour] }),
    coming("sweep", sweep, { initial: 1, everySeconds: 3 * hour, maxWaiting: 4, runSeconds: [2 * hour, 9 * hour] }),
    coming("asleep", asleep, { initial: 0, everySeconds: 30 * hour, maxWaiting: 1, runSeconds: [6 * hour, 30 * hour] }),
    coming("report", report, { initial: 1, everySeconds: 5 * hour, maxWaiting: 1, runSeconds: [hour, 4 * hour] }),
  ];
}

function lostNodes(): readonly LaterFault[] {
  const lost = (node: string, days: number, hours: number): LaterFault => ({
    afterSeconds: days * day,
    forSeconds: hours * hour,
    fault: { kind: "node-lost", node },
  });
  return [
    lost("a100-spot-01", 0.9, 7),
    lost("h100-03", 4.2, 30),
    lost("l4-01", 11.5, 9),
    lost("a100-02", 17.3, 14),
    lost("a10-02", 23.6, 40),
  ];
}
