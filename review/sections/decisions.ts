import { dropName } from "../../exporter/publish/stateNames.ts";
import { decide } from "../decide/decide.ts";
import type { Decision } from "../decide/decision.ts";
import type { Review } from "../document/review.ts";
import type { Figure } from "../words/figure.ts";
import { longText, nameText } from "../words/names.ts";
import { money } from "./money.ts";
import { longColumn, numberColumn, type Piece, type Table, textColumn } from "./section.ts";
import { withClusters } from "./withClusters.ts";

const gpuHours = (measure: string, value: number | null): Figure => ({ measure, unit: "GPU-h", value });

/** What to decide, each with its evidence, what is at stake, who decides and what happens if nobody does. */
export function decisionTable(review: Review): Table | null {
  const { decisions } = decide(review);
  if (decisions.length === 0) return null;
  return withClusters(review, {
    section: "decisions",
    caption: "Most at stake first",
    rowHeading: "what to decide",
    columns: [
      longColumn("because"),
      numberColumn("at stake"),
      numberColumn("lost", "GPU-h"),
      numberColumn("waited", "GPU-h"),
      textColumn("who decides"),
      longColumn("if nothing is done"),
    ],
    rows: decisions.map((one, i) => ({
      item: `${i + 1} ${one.kind}`,
      cluster: one.cluster,
      head: longText(one.title),
      cells: [
        evidencePieces(one),
        money("at_stake", one.worth.moneyPerWeek ?? {}, "week"),
        [gpuHours("lost", one.worth.lostGpuHours)],
        [gpuHours("waited", one.worth.waitingGpuHours)],
        [nameText(one.owner)],
        [longText(one.ifNothingIsDone)],
      ],
    })),
  });
}

const evidencePieces = ({ evidence }: Decision): readonly Piece[] =>
  evidence.flatMap(({ name, unit, value }, i): readonly Piece[] => [
    `${i === 0 ? "" : "; "}${longText(name)} `,
    { measure: `evidence_${i + 1}`, unit, value },
  ]);

/** Why there is no decision about a large loss, in sentences. */
export const undecidedTexts = (review: Review): readonly string[] =>
  decide(review).undecided.map(({ loss, reason }) =>
    longText(loss === null ? reason : `${dropName(loss.state, loss.isAllocated)}: ${reason}`),
  );
