import { dropName } from "../../exporter/publish/stateNames.ts";
import { decide } from "../decide/decide.ts";
import type { Decision } from "../decide/decision.ts";
import type { Review } from "../document/review.ts";
import { longText, nameText } from "../words/names.ts";
import { money } from "./money.ts";
import { figure, longColumn, numberColumn, type Piece, type Table, tableOf, textColumn } from "./section.ts";

/**
 * The table of what to decide: each decision with its evidence, what is at stake, who decides, and what happens if nobody does.
 */
export function decisionTable(review: Review): Table | null {
  const { decisions } = decide(review);
  return tableOf(decisions.length === 0 ? null : [...decisions.entries()], review.clusters, {
    section: "decisions",
    caption: "Most at stake first",
    rowHeading: "what to decide",
    row: ([i, { kind, cluster, title }]) => ({ item: `${i + 1} ${kind}`, cluster, head: longText(title) }),
    columns: [
      [longColumn("because"), ([, one]) => evidencePieces(one)],
      [numberColumn("at stake"), ([, { worth }]) => money("at_stake", worth.moneyPerWeek ?? {}, "week")],
      [numberColumn("lost", "GPU-h"), ([, { worth }]) => figure("lost", "GPU-h", worth.lostGpuHours)],
      [numberColumn("waited", "GPU-h"), ([, { worth }]) => figure("waited", "GPU-h", worth.waitingGpuHours)],
      [textColumn("who decides"), ([, { owner }]) => [nameText(owner)]],
      [longColumn("if nothing is done"), ([, { ifNothingIsDone }]) => [longText(ifNothingIsDone)]],
    ],
  });
}

const evidencePieces = ({ evidence }: Decision): readonly Piece[] =>
  evidence.flatMap(({ name, unit, value }, i): readonly Piece[] => [
    `${i === 0 ? "" : "; "}${longText(name)} `,
    { measure: `evidence_${i + 1}`, unit, value },
  ]);

/** Says why there is no decision about large losses, in one sentence for each. */
export const undecidedTexts = (review: Review): readonly string[] =>
  decide(review).undecided.map(({ loss, reason }) =>
    longText(loss === null ? reason : `${dropName(loss.state, loss.isAllocated)}: ${reason}`),
  );
