import { noQueueing } from "../../../../simulator/queues/spec.ts";
import type { Scenario } from "../../../../simulator/scenario.ts";
import {
  adviceScenario,
  coming,
  lasting,
  oneCohort,
  wholeNodes,
} from "../../../../simulator/scenarios/advice/parts.ts";
import { workloadOf } from "../../../../simulator/scenarios/parts.ts";

/**
 * Six nodes of eight H100: four for two queues that are sure of sixteen GPUs each and use just these, work of whole nodes
 * that keeps them busy; two for a service that is busy day and night. Something waits for its own quota now and then.
 *
 * Good advice: none.
 */
export function quietScenario(): Scenario {
  const busy = { kind: "steady", level: 0.92 } as const;
  const serving = { kind: "day", low: 0.6, high: 0.95 } as const;
  const eight = { kind: "physicalGpus", count: 8 } as const;
  return adviceScenario("quiet", {
    nodes: wholeNodes("h100", 6, "H100"),
    namespaces: [
      { name: "red", team: "red" },
      { name: "blue", team: "blue" },
      { name: "chat", team: "chat" },
    ],
    queueing: {
      ...noQueueing,
      kueue: oneCohort("h100", "H100", [
        { name: "red", nominal: 16, reclaimWithinCohort: "Any" },
        { name: "blue", nominal: 16, reclaimWithinCohort: "Any" },
      ]),
    },
    habits: [
      lasting(
        "chat",
        workloadOf("Deployment", "chat", 2, eight, serving, { models: ["H100"], priorityClass: "serving" }),
        1,
      ),
      ...["red", "blue"].map((team) =>
        coming(
          `${team}-job`,
          workloadOf("PyTorchJob", team, 1, eight, busy, {
            queue: team,
            models: ["H100"],
            priorityClass: "training",
            checkpointSeconds: 1_800,
          }),
          { initial: 2, everySeconds: 600, maxWaiting: 1, runSeconds: [14_400, 28_800] },
        ),
      ),
    ],
  });
}
