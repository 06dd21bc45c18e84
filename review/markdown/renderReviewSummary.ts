import { dropName } from "../../exporter/publish/stateNames.ts";
import { summaryText } from "../chat/chatMessage.ts";
import { chatText } from "../chat/chatText.ts";
import type { Review } from "../document/review.ts";
import { wastedHours } from "../document/wastedHours.ts";
import { decisions, whyNothing } from "../sections/actions.ts";
import { domainItem } from "../sections/demand.ts";
import { headSentences, isCovered } from "../sections/head.ts";
import { money, weight } from "../sections/money.ts";
import { figure, type Piece } from "../sections/section.ts";
import { teamsByWaste } from "../sections/teams.ts";
import { tileChange, tileValue } from "../sections/tiles.ts";
import { shownStages } from "../sections/waste.ts";
import { spokenText } from "../words/figureText.ts";
import { teamText } from "../words/names.ts";
import { runOutText } from "../words/runOutText.ts";
import { windowText } from "../words/times.ts";

/** Options of a summary. */
export interface SummaryOptions {
  /** Address of the page; `null` or absent: none. It is ours and not text of the cluster, so it may be a link. */
  readonly url?: string | null;
}

const mostClusters = 6;
const mostDomains = 2;

/** A review in at most twelve lines, for a chat: its result, the largest waste, the first action, and how long GPUs last. */
export function renderReviewSummary(review: Review, { url = null }: SummaryOptions = {}): string {
  return summaryText({ lines: summaryLines(review), url });
}

/** The lines of the summary, without the address of the whole review. */
export function summaryLines(review: Review): readonly string[] {
  const { clusters, team, window } = review;
  const named = clusters.slice(0, mostClusters).map(chatText).join(", ");
  const rest = clusters.length - mostClusters;
  const where = `${named}${rest > 0 ? ` and ${rest} more` : ""}${team === null ? "" : `, ${chatText(teamText(team))}`}`;
  const [coverage] = headSentences(review);
  return [
    `GPU capacity review ${chatText(window.label)}, ${where} (${windowText(window)})`,
    words(coverage?.pieces ?? []),
    ...(isCovered(review) ? numberLines(review) : []),
  ];
}

function numberLines(review: Review): readonly string[] {
  const tiles = review.tiles.slice(0, 8).map((tile) => {
    const change = tile.change === null ? "" : ` (${spokenText(tileChange(tile))})`;
    return `${chatText(tile.title)} ${words([tileValue(tile)])}${chatText(change) === "" ? "" : ` ${chatText(change)}`}`;
  });
  const [action] = decisions(review);
  const why = whyNothing(review);
  return [
    tiles.join(" · "),
    ...largestLoss(review),
    ...wastefulTeam(review),
    ...(action === undefined ? [] : [`First action: ${chatText(action.title)}: ${words(action.pieces)}`]),
    ...(why === null ? [] : [chatText(why)]),
    ...runwayLines(review),
  ];
}

function largestLoss(review: Review): readonly string[] {
  const losses = shownStages(review).flatMap(({ drops }) => drops);
  const [largest] = [...losses].sort((one, other) => other.gpuHours - one.gpuHours);
  if (largest === undefined || largest.gpuHours === 0) return [];
  const { state, isAllocated, gpuHours, costs, owner } = largest;
  const cost: readonly Piece[] = Object.keys(costs).length === 0 ? [] : [", ", ...money("cost", costs)];
  const pieces: readonly Piece[] = [...figure("gpu_hours", "GPU-h", gpuHours), ...cost];
  return [`Largest loss: ${dropName(state, isAllocated)}, ${words(pieces)} (${chatText(owner)})`];
}

function wastefulTeam(review: Review): readonly string[] {
  const [team] = teamsByWaste(review);
  if (team === undefined || review.team !== null || wastedHours(team) === 0) return [];
  const pieces: readonly Piece[] = [
    ...figure("idle", "GPU-h", team.idle),
    " idle, ",
    ...((team.stalled ?? 0) > 0 ? [...figure("stalled", "GPU-h", team.stalled), " stalled, "] : []),
    ...figure("underutilized", "GPU-h", team.underutilized),
    " underutilized",
    ...(weight(team.wasteCosts) === 0 ? [] : [", ", ...money("waste_cost", team.wasteCosts)]),
  ];
  return [`Most waste: ${chatText(teamText(team.team))}, ${words(pieces)}`];
}

function runwayLines({ runway }: Review): readonly string[] {
  const running = (runway ?? []).filter(({ runsOut }) => runsOut.state === "exhausted" || runsOut.state === "growing");
  const shown = running
    .slice(0, mostDomains)
    .map(({ domain, runsOut }) => `${chatText(domainItem(domain))} ${chatText(runOutText(runsOut))}`);
  const rest = running.length - shown.length;
  if (runway === null || runway.length === 0) return [];
  if (running.length === 0) return ["Capacity used up: not to be foreseen, or not known"];
  return [`Capacity used up: ${shown.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`];
}

const words = (pieces: readonly Piece[]): string =>
  chatText(pieces.map((piece) => (typeof piece === "string" ? piece : spokenText(piece))).join(""));
