import { noQueueing } from "../../../../simulator/queues/spec.ts";
import type { Scenario } from "../../../../simulator/scenario.ts";
import {
  adviceScenario,
  checkpointedJob,
  coming,
  oneCohort,
  wholeNodes,
} from "../../../../simulator/scenarios/advice/parts.ts";

/**
 * Six nodes of eight H100, two queues of 24. Ads came first with best-effort work and borrowed all that search left; Kueue
 * would take it back (`reclaimWithinCohort: LowerPriority`), but what waits is behind preemption gates that nobody opens,
 * so search, with training of higher priority, waits for hours.
 *
 * Good advice: put one or two of the jobs of ads back into their queue (they make checkpoints, so little is lost); those of
 * search start at once, and ads comes back when there is room.
 */
export function reclaimScenario(): Scenario {
  return adviceScenario("reclaim", {
    nodes: wholeNodes("h100", 6, "H100"),
    namespaces: [
      { name: "ads", team: "ads" },
      { name: "search", team: "search" },
    ],
    queueing: {
      ...noQueueing,
      kueue: {
        ...oneCohort("h100", "H100", [
          { name: "ads", nominal: 24, reclaimWithinCohort: "LowerPriority" },
          { name: "search", nominal: 24, reclaimWithinCohort: "LowerPriority" },
        ]),
        hasClosedGates: true,
      },
    },
    habits: [
      coming("ctr", checkpointedJob("ads", "best-effort"), {
        initial: 6,
        everySeconds: 7_200,
        maxWaiting: 2,
        runSeconds: [36_000, 72_000],
      }),
      coming("ranker", checkpointedJob("search", "training"), {
        initial: 0,
        everySeconds: 2_400,
        maxWaiting: 3,
        runSeconds: [10_800, 21_600],
      }),
    ],
  });
}
