import { noQueueing } from "../../queues/spec.ts";
import type { Habit, LaterFault, NodeSpec, Scenario, WorkloadSpec } from "../../scenario.ts";
import { karpenterLabels, physicalGpus, workloadOf } from "../parts.ts";
import { adviceScenario, coming, lasting, oneCohort, wholeNodes } from "./parts.ts";

const hour = 3_600;
const day = 24 * hour;
const busy = { kind: "steady", level: 0.9 } as const;

/**
 * A cluster of 36 nodes and 248 GPUs as many are after some months, to be played for a week in steps of five minutes:
 *
 * - 16 nodes of H100 under Kueue: ads fills with best-effort work what search leaves, and search may not take it back;
 * - ten nodes of A100 whose scheduler spreads services, so that training of whole nodes finds none;
 * - six nodes of A10, an autoscaled pool that nobody shrinks (`consolidateAfter: Never`), for a few small reports;
 * - notebooks on the A100, worked with in spells and pauses as on a real cluster, until they are forgotten for days; some that
 *   nobody ever used; tuning jobs without a checkpoint that pause in the same way; services that ask for four GPUs and use one;
 * - four nodes of L4 with small jobs;
 * - an exporter that is stuck until it is restarted, on most days.
 *
 * If good advice is followed, more work is finished on fewer nodes than without it, and nobody's work is stopped.
 */
export function weekScenario(): Scenario {
  return adviceScenario("week", {
    nodes: nodes(),
    nodePools: [
      {
        name: "burst",
        limits: { "nvidia.com/gpu": "24" },
        capacityTypes: ["on-demand"],
        consolidateAfter: "Never",
      },
    ],
    autoscaledPools: ["burst"],
    namespaces: ["ads", "search", "vision", "assistants", "notebooks", "tools"].map((name) => ({ name, team: name })),
    queueing: {
      ...noQueueing,
      kueue: oneCohort("h100", "H100", [
        { name: "ads", nominal: 64, reclaimWithinCohort: "Never" },
        { name: "search", nominal: 64, reclaimWithinCohort: "Never" },
      ]),
    },
    placement: "spread",
    habits: [...queued(), ...trainings(), ...services(), ...notebooks()],
    laterFaults: stuckExporters(),
    warmupSeconds: 4 * hour,
    stepSeconds: 300,
    collectionInterval: 60,
  });
}

function nodes(): readonly NodeSpec[] {
  const a100 = { instanceType: "p4de.24xlarge", zone: "eu-west-1a" };
  return [
    ...wholeNodes("h100", 16, "H100", { instanceType: "p5.48xlarge", zone: "eu-west-1a" }),
    ...wholeNodes("a100", 10, "A100", a100),
    ...wholeNodes("burst", 6, "A10", {
      gpus: 4,
      instanceType: "g5.12xlarge",
      zone: "eu-west-1b",
      labels: karpenterLabels("burst", "on-demand"),
    }),
    ...wholeNodes("l4", 4, "L4", { gpus: 4, instanceType: "g6.12xlarge", zone: "eu-west-1b" }),
  ];
}

/** Work that is used in spells and pauses, for this long. */
const inSessions = (usedSeconds: readonly [number, number] | null) =>
  ({ kind: "sessions", level: 0.6, usedSeconds }) as const;

function gang(team: string, pods: number, priorityClass: string): WorkloadSpec {
  return workloadOf("PyTorchJob", team, pods, physicalGpus(8), busy, {
    queue: team,
    gang: true,
    models: ["H100"],
    priorityClass,
    checkpointSeconds: 1_800,
  });
}

function queued(): readonly Habit[] {
  return [
    coming("ctr", gang("ads", 2, "best-effort"), {
      initial: 8,
      everySeconds: 2 * hour,
      maxWaiting: 2,
      runSeconds: [8 * hour, 30 * hour],
    }),
    coming("ranker", gang("search", 2, "training"), {
      initial: 0,
      everySeconds: 3 * hour,
      maxWaiting: 3,
      runSeconds: [5 * hour, 14 * hour],
    }),
  ];
}

function trainings(): readonly Habit[] {
  const whole = workloadOf("PyTorchJob", "vision", 1, physicalGpus(8), busy, {
    models: ["A100"],
    priorityClass: "training",
    checkpointSeconds: 1_800,
  });
  const small = workloadOf("Job", "tools", 1, physicalGpus(1), busy, { models: ["L4"] });
  // The work keeps nothing of what it has done: whoever stops it in a pause lets it begin anew.
  const tuning = workloadOf("PyTorchJob", "vision", 1, physicalGpus(4), inSessions(null), {
    models: ["A100"],
    priorityClass: "training",
  });
  const report = workloadOf("PyTorchJob", "tools", 1, physicalGpus(2), busy, { models: ["A10"] });
  return [
    coming("report", report, { initial: 1, everySeconds: 5 * hour, maxWaiting: 1, runSeconds: [hour, 4 * hour] }),
    coming("trainer", whole, { initial: 2, everySeconds: 4 * hour, maxWaiting: 2, runSeconds: [4 * hour, 12 * hour] }),
    coming("tuning", tuning, { initial: 2, everySeconds: 8 * hour, maxWaiting: 1, runSeconds: [8 * hour, 30 * hour] }),
    coming("crawl", small, { initial: 6, everySeconds: hour, maxWaiting: 2, runSeconds: [2 * hour, 12 * hour] }),
  ];
}

function services(): readonly Habit[] {
  const serving = { kind: "day", low: 0.3, high: 0.9 } as const;
  const one = workloadOf("Deployment", "assistants", 2, physicalGpus(1), serving, {
    models: ["A100"],
  });
  const four = workloadOf("Deployment", "assistants", 1, physicalGpus(4), serving, {
    models: ["A100"],
    busyGpus: 1,
  });
  return [
    coming("embedder", one, { initial: 9, everySeconds: 7 * hour, maxWaiting: 1, runSeconds: [day, 4 * day] }),
    lasting("oversized", four, 2),
  ];
}

function notebooks(): readonly Habit[] {
  const two = physicalGpus(2);
  const notebook = (activity: WorkloadSpec["activity"]) =>
    workloadOf("Notebook", "notebooks", 1, two, activity, { models: ["A100"] });
  return [
    coming("untouched", notebook({ kind: "constant", level: 0 }), {
      initial: 1,
      everySeconds: 2 * day,
      maxWaiting: 1,
      runSeconds: [2 * day, 5 * day],
    }),
    coming("forgotten", notebook(inSessions([2 * hour, 3 * day])), {
      initial: 4,
      everySeconds: 12 * hour,
      maxWaiting: 1,
      runSeconds: [2 * day, 5 * day],
    }),
    coming("explore", notebook(inSessions(null)), {
      initial: 3,
      everySeconds: day,
      maxWaiting: 1,
      runSeconds: [8 * hour, 2 * day],
    }),
  ];
}

function stuckExporters(): readonly LaterFault[] {
  const stuck = (node: string, days: number, kind: "exporter-frozen" | "exporter-empty"): LaterFault => ({
    afterSeconds: days * day,
    fault: { kind, target: { node }, endsWithRestart: true },
  });
  return [
    stuck("h100-05", 0.6, "exporter-frozen"),
    stuck("a100-03", 1.4, "exporter-empty"),
    stuck("h100-11", 2.7, "exporter-empty"),
    stuck("l4-02", 3.3, "exporter-frozen"),
    stuck("h100-02", 5.1, "exporter-frozen"),
  ];
}
