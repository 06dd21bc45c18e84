import type { Review } from "../document/review.ts";
import { actionTable, lastActionTable, notAdvisedTable, trackTable } from "./actions.ts";
import { decisionTable } from "./decisions.ts";
import { demandTable, oneMoreNodeSentence, stepTable } from "./demand.ts";
import { faultTable, outageTable } from "./faults.ts";
import { coverageTable, headSentences, isCovered, priceTable } from "./head.ts";
import { headline } from "./headline.ts";
import { jobsByCost, jobsByWaste, jobsSentence } from "./jobs.ts";
import { fragmentationTable, idlePoolTable, streakTable } from "./nodes.ts";
import { paidForNothing } from "./paidForNothing.ts";
import { runOutTable, runwayTable, runwayWeekTable } from "./runway.ts";
import type { Sentence, Table } from "./section.ts";
import { servingTable } from "./serving.ts";
import { startTimesTable } from "./startTimes.ts";
import { budgetTable, fairnessTable, goodputTable, teamTable } from "./teams.ts";
import { periodTable, termsSentence, tileTable } from "./tiles.ts";
import { topologyTable } from "./topology.ts";
import { waitsByQueue, waitsBySize } from "./waits.ts";
import { wasteTable } from "./waste.ts";

/** Every table and every sentence with a number, in the order of the page. */
export function everyNumber(review: Review): readonly (Table | Sentence)[] {
  const parts: readonly (Table | Sentence | null)[] = isCovered(review)
    ? [
        ...headSentences(review),
        ...headline(review),
        coverageTable(review),
        priceTable(review),
        decisionTable(review),
        tileTable(review),
        periodTable(review),
        termsSentence(review),
        wasteTable(review),
        demandTable(review),
        ...(review.demand ?? []).map(oneMoreNodeSentence),
        ...(review.demand ?? []).map(stepTable),
        teamTable(review),
        goodputTable(review),
        fairnessTable(review),
        budgetTable(review),
        waitsBySize(review),
        waitsByQueue(review),
        idlePoolTable(review),
        streakTable(review),
        fragmentationTable(review),
        startTimesTable(review),
        topologyTable(review),
        paidForNothing(review),
        faultTable(review),
        outageTable(review),
        servingTable(review),
        jobsSentence(review),
        jobsByCost(review),
        jobsByWaste(review),
        runwayTable(review),
        ...(review.runway ?? []).flatMap((one) => [runOutTable(one), runwayWeekTable(one)]),
        actionTable(review),
        notAdvisedTable(review),
        lastActionTable(review),
        trackTable(review),
      ]
    : headSentences(review);
  return parts.filter((part) => part !== null);
}
