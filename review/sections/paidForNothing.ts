import { unavailableCauses } from "../../exporter/model/gpuFaults.ts";
import { dropName, stateNames } from "../../exporter/publish/stateNames.ts";
import type { Review } from "../document/review.ts";
import type { TeamRow, WaterfallDropRow } from "../document/use.ts";
import { causeText, nameText, teamText } from "../words/names.ts";
import { money, weight } from "./money.ts";
import { numberColumn, type Piece, type Row, type Table, textColumn } from "./section.ts";

/** The states in which a team's GPUs did nothing although they could be used. */
const states = ["idle", "stalled"] as const;

type State = (typeof states)[number];

/** A row, and what it is ordered by. */
interface Lost {
  readonly row: Row;
  readonly gpuHours: number;
  readonly cost: number;
}

/**
 * What was paid for and did nothing: idle and stalled GPU time of teams, and GPU time that could not be used, by cause. The dearest
 * first. `null`: nothing of it.
 */
export function paidForNothing(review: Review): Table | null {
  const drops = review.waterfall.flatMap((stage) => stage.drops);
  const rows = [...states.flatMap((state) => ofState(review, drops, state)), ...unavailable(review, drops)];
  const shown = rows.filter(({ gpuHours }) => gpuHours > 0);
  if (shown.length === 0) return null;
  shown.sort((a, b) => b.cost - a.cost || b.gpuHours - a.gpuHours || (a.row.item < b.row.item ? -1 : 1));
  return {
    section: "paid_for_nothing",
    caption: "Paid for, and did nothing: the dearest first",
    rowHeading: "what",
    columns: [numberColumn("GPU-h", "GPU-h"), numberColumn("cost"), textColumn("who can act")],
    rows: shown.map(({ row }) => row),
  };
}

function ofState(review: Review, drops: readonly WaterfallDropRow[], state: State): readonly Lost[] {
  const owner = review.team === null ? mostOf(review.teams, state) : [teamText(review.team)];
  return drops
    .filter((drop) => drop.state === state)
    .map(({ gpuHours, costs }) => lost(stateNames[state], stateNames[state], { gpuHours, costs }, owner));
}

/** The team that had most of it. */
function mostOf(teams: readonly TeamRow[], state: State): readonly Piece[] {
  const [first] = teams.toSorted((a, b) => (b[state] ?? 0) - (a[state] ?? 0) || (a.team < b.team ? -1 : 1));
  const gpuHours = first?.[state] ?? 0;
  if (first === undefined || gpuHours <= 0) return ["team"];
  return ["team, most ", teamText(first.team), ": ", { measure: "most", unit: "GPU-h", value: gpuHours }];
}

/** By cause; where causes are not known, as the waterfall has it. */
function unavailable({ faults }: Review, drops: readonly WaterfallDropRow[]): readonly Lost[] {
  if (faults === null)
    return drops
      .filter(({ state }) => state === "unavailable")
      .map((drop) => {
        const name = dropName(drop.state, drop.isAllocated);
        return lost(name, name, drop, [nameText(drop.owner)]);
      });
  return faults.causes
    .filter(({ cause }) => unavailableCauses.some((one) => one === cause))
    .map((one) => lost(one.cause, `unavailable: ${causeText(one.cause)}`, one, ["platform"]));
}

const lost = (
  item: string,
  head: string,
  { gpuHours, costs }: Pick<WaterfallDropRow, "gpuHours" | "costs">,
  owner: readonly Piece[],
): Lost => ({
  gpuHours,
  cost: weight(costs),
  row: {
    item: nameText(item),
    cluster: "",
    head,
    cells: [[{ measure: "gpu_hours", unit: "GPU-h", value: gpuHours }], money("cost", costs), owner],
  },
});
