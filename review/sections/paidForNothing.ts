import { unavailableCauses } from "../../exporter/model/gpuFaults.ts";
import { dropName, stateNames } from "../../exporter/publish/stateNames.ts";
import type { Costs } from "../document/parts.ts";
import type { Review } from "../document/review.ts";
import type { TeamRow, WaterfallDropRow } from "../document/use.ts";
import { causeText, nameText, teamText } from "../words/names.ts";
import { money, weight } from "./money.ts";
import { figure, numberColumn, type Piece, type Table, tableOf, textColumn } from "./section.ts";

/** The states in which a team's GPUs did nothing although they could be used. */
const states = ["idle", "stalled"] as const;

type State = (typeof states)[number];

interface Lost {
  readonly item: string;
  readonly head: string;
  readonly gpuHours: number;
  readonly costs: Costs;
  readonly owner: readonly Piece[];
}

/**
 * What was paid for and did nothing: idle and stalled GPU time of teams, and GPU time that could not be used, by cause. The
 * dearest is first. `null`: there is nothing of this kind.
 */
export function paidForNothing(review: Review): Table | null {
  const drops = review.waterfall.flatMap((stage) => stage.drops);
  const rows = [...states.flatMap((state) => ofState(review, drops, state)), ...unavailable(review, drops)];
  const shown = rows.filter(({ gpuHours }) => gpuHours > 0);
  if (shown.length === 0) return null;
  shown.sort((a, b) => weight(b.costs) - weight(a.costs) || b.gpuHours - a.gpuHours || (a.item < b.item ? -1 : 1));
  return tableOf(shown, [], {
    section: "paid_for_nothing",
    caption: "Paid for, and did nothing: the dearest first",
    rowHeading: "what",
    row: ({ item, head }) => ({ item, cluster: "", head }),
    columns: [
      [numberColumn("GPU-h", "GPU-h"), ({ gpuHours }) => figure("gpu_hours", "GPU-h", gpuHours)],
      [numberColumn("cost"), ({ costs }) => money("cost", costs)],
      [textColumn("who can act"), ({ owner }) => owner],
    ],
  });
}

function ofState(review: Review, drops: readonly WaterfallDropRow[], state: State): readonly Lost[] {
  const owner = review.team === null ? mostOf(review.teams, state) : [teamText(review.team)];
  const [item, head] = [state, stateNames[state]];
  return drops
    .filter((drop) => drop.state === state)
    .map(({ gpuHours, costs }) => ({ item, head, gpuHours, costs, owner }));
}

/** Names the team that had the most GPU time in a state. */
function mostOf(teams: readonly TeamRow[], state: State): readonly Piece[] {
  const [first] = teams.toSorted((a, b) => (b[state] ?? 0) - (a[state] ?? 0) || (a.team < b.team ? -1 : 1));
  const gpuHours = first?.[state] ?? 0;
  if (first === undefined || gpuHours <= 0) return ["team"];
  return ["team, most ", teamText(first.team), ": ", ...figure("most", "GPU-h", gpuHours)];
}

/** GPU time that could not be used, by cause; where causes are not known, as the waterfall has it. */
function unavailable({ faults }: Review, drops: readonly WaterfallDropRow[]): readonly Lost[] {
  if (faults === null)
    return drops
      .filter(({ state }) => state === "unavailable")
      .map((drop) => {
        const name = dropName(drop.state, drop.isAllocated);
        return { item: name, head: name, gpuHours: drop.gpuHours, costs: drop.costs, owner: [nameText(drop.owner)] };
      });
  return faults.causes
    .filter(({ cause }) => unavailableCauses.some((one) => one === cause))
    .map(({ cause, gpuHours, costs }) => ({
      item: cause,
      head: `unavailable: ${causeText(cause)}`,
      gpuHours,
      costs,
      owner: ["platform"],
    }));
}
