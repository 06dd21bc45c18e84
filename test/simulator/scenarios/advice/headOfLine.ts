import { noQueueing } from "../../../../simulator/queues/spec.ts";
import type { Scenario, WorkloadSpec } from "../../../../simulator/scenario.ts";
import { adviceScenario, coming, oneCohort, wholeNodes } from "../../../../simulator/scenarios/advice/parts.ts";
import { workloadOf } from "../../../../simulator/scenarios/parts.ts";

/**
 * Three nodes of eight H100 and one queue that serves strictly in order. Two long jobs have two nodes; a third that wants all
 * three is next. Two small jobs behind it would fit onto the third node, and wait with it.
 *
 * Good advice: boost the priority of the small ones past the big one.
 */
export function headOfLineScenario(): Scenario {
  const { clusterQueues, ...kueue } = oneCohort("h100", "H100", [
    { name: "vision", nominal: 24, reclaimWithinCohort: "Never" },
  ]);
  const once = { initial: 1, everySeconds: null, maxWaiting: 0 } as const;
  return adviceScenario("head-of-line", {
    nodes: wholeNodes("h100", 3, "H100"),
    namespaces: [{ name: "vision", team: "vision" }],
    queueing: {
      ...noQueueing,
      kueue: {
        ...kueue,
        clusterQueues: clusterQueues.map((queue) => ({
          ...queue,
          ...({ cohort: null, strategy: "StrictFIFO", withinClusterQueue: "Never" } as const),
        })),
      },
    },
    habits: [coming("along", job(1, 8), { ...once, initial: 2, runSeconds: [18_000, 25_200] })],
    // In this order they come: of the same second, a queue goes by uid.
    arrivals: [
      { afterSeconds: 60, name: "big", workload: job(3, 8), runSeconds: 10_800 },
      { afterSeconds: 120, name: "small-1", workload: job(1, 4), runSeconds: 12_600 },
      { afterSeconds: 180, name: "small-2", workload: job(1, 4), runSeconds: 12_600 },
    ],
  });
}

function job(pods: number, physicalGpus: number): WorkloadSpec {
  const busy = { kind: "steady", level: 0.9 } as const;
  return workloadOf("PyTorchJob", "vision", pods, { kind: "physicalGpus", count: physicalGpus }, busy, {
    queue: "vision",
    models: ["H100"],
    priorityClass: "training",
    gang: pods > 1,
  });
}
