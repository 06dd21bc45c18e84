import { noQueueing } from "../../queues/spec.ts";
import type { Scenario, WorkloadSpec } from "../../scenario.ts";
import { workloadOf } from "../parts.ts";
import { adviceScenario, coming, oneCohort, wholeNodes } from "./parts.ts";

/**
 * Six nodes of eight H100, two queues of 24. Ads came first with best-effort work and borrowed all that search left; Kueue
 * may not take it back (`reclaimWithinCohort: Never`), so search, with training of higher priority, waits for hours.
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
      kueue: oneCohort("h100", "H100", [
        { name: "ads", nominal: 24, reclaimWithinCohort: "Never" },
        { name: "search", nominal: 24, reclaimWithinCohort: "Never" },
      ]),
    },
    habits: [
      coming("ctr", job("ads", "best-effort"), {
        initial: 6,
        everySeconds: 7_200,
        maxWaiting: 2,
        runSeconds: [36_000, 72_000],
      }),
      coming("ranker", job("search", "training"), {
        initial: 0,
        everySeconds: 2_400,
        maxWaiting: 3,
        runSeconds: [10_800, 21_600],
      }),
    ],
  });
}

function job(team: string, priorityClass: string): WorkloadSpec {
  const busy = { kind: "steady", level: 0.9 } as const;
  return workloadOf("PyTorchJob", team, 2, { kind: "cards", count: 4 }, busy, {
    queue: team,
    gang: true,
    models: ["H100"],
    priorityClass,
    checkpointSeconds: 1_800,
  });
}
