import { noQueueing } from "../../../../simulator/queues/spec.ts";
import type { Scenario, WorkloadSpec } from "../../../../simulator/scenario.ts";
import { adviceScenario, coming, oneCohort, wholeNodes } from "../../../../simulator/scenarios/advice/parts.ts";
import { workloadOf } from "../../../../simulator/scenarios/parts.ts";

/**
 * Five nodes of eight H100. Red is sure of 32 GPUs and never uses more than twelve; blue is sure of eight, may not borrow, and
 * always has work waiting. So GPUs are free while blue waits for its quota.
 *
 * Good advice: give blue some of the quota that red has not used for long.
 */
export function changeQuotaScenario(): Scenario {
  return adviceScenario("change-quota", {
    nodes: wholeNodes("h100", 5, "H100"),
    namespaces: [
      { name: "red", team: "red" },
      { name: "blue", team: "blue" },
    ],
    queueing: {
      ...noQueueing,
      kueue: oneCohort("h100", "H100", [
        { name: "red", nominal: 32, reclaimWithinCohort: "Any" },
        { name: "blue", nominal: 8, reclaimWithinCohort: "Any", borrowingLimit: 0 },
      ]),
    },
    habits: [
      coming("red-job", job("red"), {
        initial: 2,
        everySeconds: 10_800,
        maxWaiting: 1,
        runSeconds: [5_400, 14_400],
      }),
      coming("blue-job", job("blue"), {
        initial: 3,
        everySeconds: 1_800,
        maxWaiting: 4,
        runSeconds: [10_800, 21_600],
      }),
    ],
  });
}

function job(team: string): WorkloadSpec {
  const busy = { kind: "steady", level: 0.9 } as const;
  return workloadOf("PyTorchJob", team, 1, { kind: "physicalGpus", count: 4 }, busy, {
    queue: team,
    models: ["H100"],
    priorityClass: "training",
    checkpointSeconds: 1_800,
  });
}
