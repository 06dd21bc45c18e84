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
 * Six nodes of eight H100, two queues of 24 whose work has the same priority. Ads borrowed what search left; the queue of
 * search may not take its quota back (`reclaimWithinCohort: Never`), while that of ads may.
 *
 * Good advice: let search take back what it is sure of (`reclaimWithinCohort: Any`). Nobody but Kueue itself may stop work of
 * equal priority, so that a reclaim by hand is no advice here.
 */
export function fixSchedulerScenario(): Scenario {
  return adviceScenario("fix-scheduler", {
    nodes: wholeNodes("h100", 6, "H100"),
    namespaces: [
      { name: "ads", team: "ads" },
      { name: "search", team: "search" },
    ],
    queueing: {
      ...noQueueing,
      kueue: oneCohort("h100", "H100", [
        { name: "ads", nominal: 24, reclaimWithinCohort: "Any" },
        { name: "search", nominal: 24, reclaimWithinCohort: "Never" },
      ]),
    },
    habits: [
      coming("ctr", checkpointedJob("ads", "training"), {
        initial: 6,
        everySeconds: 3_600,
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
