import { isoTime } from "../../kernel/isoTime.ts";
import type { AdviceAct } from "../../model/adviceAct.ts";
import { type AdviceTrackRecord, wrongOf } from "../../model/aftermath.ts";
import type { Advice, AdviceKind, EffectRange, Money, Recommendation, Undone } from "../../model/recommendation.ts";
import { duration, gpus, plainText } from "../terminal/columns.ts";
import { money } from "../terminal/costText.ts";

/** What gaining GPUs means, by the kind of a recommendation: docs/recommendations.md. */
const gains: Readonly<Record<AdviceKind, string>> = {
  reclaim: "GPUs start for who is entitled to them",
  defragment: "GPUs become usable",
  release_idle: "idle GPUs become free",
  scale_in: "idle GPUs are no longer paid for",
  change_quota: "GPUs of waiting work start",
  share_gpu: "GPUs become free",
  right_size: "unused GPUs become free",
  unblock_gang: "GPUs of stuck work start",
  drain_node: "GPUs with a fault can be repaired",
  fix_scheduler: "GPUs go to who is entitled to them",
  fix_source: "allocated GPUs are seen again",
};

/** The gain of moves after which a node is removed. */
const removedNode = "GPUs are no longer paid for";

/** The gain where work hangs: once restarted, it continues with the GPUs that it has. */
const restarted = "GPUs compute again";

/** The gain where work runs on a GPU with a fault: it continues elsewhere. */
const movedAway = "GPUs compute without a fault";

function gainOf({ kind, act, beneficiary, stalledSince }: Recommendation): string {
  if (stalledSince !== undefined) return restarted;
  if (kind === "drain_node" && act === "ask") return movedAway;
  return kind === "defragment" && beneficiary.kind === "pool" ? removedNode : gains[kind];
}

/** Writes a range: `16.0`, or `8.0 to 16.0` where the placement rules differ. */
export function rangeText({ worst, best }: EffectRange): string {
  return best - worst > 0.05 ? `${gpus(worst)} to ${gpus(best)}` : gpus(worst);
}

/** Writes what a recommendation gains: `16.0 GPUs start for who is entitled to them (search/rank-7, search/rank-8 start)`. */
export function gainText(one: Recommendation): string {
  const { effect, habit } = one;
  const verb = effect.starts.length === 1 ? "starts" : "start";
  const starts = effect.starts.length === 0 ? "" : ` (${effect.starts.join(", ")} ${verb})`;
  const hours = habit === null ? "" : `, for ${habit.expectedIdleHours.toFixed(1)} h more as expected`;
  return `${rangeText(effect.gainedGpus)} ${gainOf(one)}${hours}${starts}`;
}

/** Writes what a recommendation costs: `2 pods stop, at most 3.1 GPU-hours lost (ads)`. */
export function lossText({ cost, act }: Recommendation): string {
  const { pods, gangs, lostGpuHours, isUpperBound, teams } = cost;
  if (pods === 0) return "nobody is disturbed";
  const gangText = gangs === 0 ? "" : ` in ${counted(gangs, "gang")}`;
  const whose = teams.length === 0 ? "" : ` (${teams.join(", ")})`;
  const most = isUpperBound ? "at most " : "";
  const agreed = act === "ask" ? "if its owner agrees " : "";
  return `${agreed}${counted(pods, "pod")}${gangText} ${pods === 1 ? "stops" : "stop"}, ${most}${lostGpuHours.toFixed(1)} GPU-hours lost${whose}`;
}

/** Writes what is saved: `$ 1,320 a week, as the last 7 days were`; empty where nothing is saved or nothing has a price. */
export function savingText(saving: readonly Money[]): string {
  const perWeek = savedPerWeek(saving);
  return perWeek === "" ? "" : `${perWeek}, as the last 7 days were`;
}

/** Writes the saving in short: `$ 1,320 a week`; empty in the same cases. */
export function savedPerWeek(saving: readonly Money[]): string {
  const known = saving.filter(({ amount }) => amount >= 0.005);
  if (known.length === 0) return "";
  return `${known.map(({ currency, amount }) => money(amount, currency)).join(" + ")} a week`;
}

/**
 * Writes how old a recommendation is, or how it was closed: `first seen 12 min ago`, `taken 2 h ago: its 2 pods have left their
 * nodes`.
 */
export function lifecycleText(one: Recommendation, now: number): string {
  const { state, firstSeenAt, openedAt, openings, closedAt, closedBecause, parts } = one;
  if (closedAt === null) {
    const again = openings > 1 ? `, open again for ${duration(now - openedAt)}` : "";
    const begun = parts === null ? "" : `, ${parts.done} of ${parts.all} parts are done`;
    return `first seen ${duration(now - firstSeenAt)} ago${again}${begun}`;
  }
  return `${state} ${duration(now - closedAt)} ago${closedBecause === null ? "" : `: ${closedBecause}`}`;
}

/**
 * Names the recommendations that this one replaced: `replaces r-4f2a91c07d`; `null` if it replaced none. The one that replaced
 * it in turn is named by the reason why it was closed (`lifecycleText`).
 */
export function replacesText({ replaces }: Recommendation): string | null {
  return replaces.length === 0 ? null : `replaces ${replaces.join(", ")}`;
}

/** Writes what was measured beside what was predicted; `null` while nothing was measured. */
export function measuredText({ measured, effect, cost }: Recommendation): string | null {
  if (measured === null) return null;
  const soFar = measured.isFinal ? "" : " so far";
  const loss = `${measured.lostGpuHours.toFixed(1)} of ${cost.lostGpuHours.toFixed(1)} GPU-hours lost`;
  const undone = measured.undone === null ? "" : `; ${undoneText(measured.undone)}`;
  return `measured${soFar}: ${gpus(measured.gainedGpus)} GPUs of ${rangeText(effect.gainedGpus)} predicted, ${loss}${undone}`;
}

const undoneWords: Readonly<Record<Undone["how"], string>> = {
  "came-back": "what it had let go came back",
  "evicted-again": "pods that it placed were evicted again",
  "changed-back": "the change was taken back",
};

/** Writes when and how the effect was undone: `undone at 2026-11-20T14:00:00Z: what it had let go came back (2 GPUs)`. */
function undoneText({ how, at, gpus: amount }: Undone): string {
  return `undone at ${isoTime(at)}: ${undoneWords[how]} (${gpus(amount)} GPUs)`;
}

const acts: Readonly<Record<AdviceAct, string>> = {
  do: "to do",
  ask: "to ask the owner",
  watch: "to watch",
};

/**
 * Writes what the reader is asked to do, with the reasons: `to ask the owner: it may have worked before Fairlead watched it`.
 */
export function actText({ act, actReasons }: Pick<Recommendation, "act" | "actReasons">): string {
  return actReasons.length === 0 ? acts[act] : `${acts[act]}: ${actReasons.join("; ")}`;
}

/** Writes what became of the work that a recommendation named; `null` while that is unknown, and if nothing happened. */
export function aftermathText({ aftermath, kind, stalledSince }: Recommendation, now: number): string | null {
  if (aftermath === null) return null;
  const { outcome, at, regretGpuHours } = aftermath;
  const ago = `${duration(now - at)} ago`;
  const cost = `${regretGpuHours.toFixed(1)} GPU-hours for nothing`;
  if (outcome === "came-back") return `wrong: the work came back by itself ${ago}; stopping it would have cost ${cost}`;
  if (outcome === "evicted-again") return `wrong: moved pods were evicted again ${ago}; it cost ${cost}`;
  if (outcome === "ended") return `the work ended by itself ${ago}`;
  return `right: ${stalledSince === undefined ? (stays[kind] ?? "it stayed so") : "the work did not go on by itself"}`;
}

const stays: Partial<Readonly<Record<AdviceKind, string>>> = { release_idle: "the work did not come back" };

/**
 * Writes in one line how recommendations of one kind turned out: `release_idle, asked: 12 of 14 right, 2 came back (85.3
 * GPU-hours)`.
 */
export function trackText({ kind, act, outcomes, regretGpuHours }: AdviceTrackRecord): string {
  const { wrong, all } = wrongOf(outcomes);
  const how = [
    ...(outcomes["came-back"] === 0 ? [] : [`${outcomes["came-back"]} came back`]),
    ...(outcomes["evicted-again"] === 0 ? [] : [`${outcomes["evicted-again"]} evicted again`]),
    ...(wrong === 0 ? [] : [`${regretGpuHours.toFixed(1)} GPU-hours for nothing`]),
  ];
  return `${kind}, ${acts[act]}: ${all - wrong} of ${all} right${how.length === 0 ? "" : `; ${how.join(", ")}`}`;
}

/** Writes the confidence with its reasons: `high: both placement rules agree; no checkpoint is known of ads/embed-v3`. */
export function confidenceText({ confidence: { level, reasons } }: Recommendation): string {
  return reasons.length === 0 ? level : `${level}: ${reasons.map((reason) => reason.replace(/\.$/, "")).join("; ")}`;
}

/** Writes a count with its noun: `1 pod`, `2 pods`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Length of the longest command that is shown, in UTF-16 code units: a patch of a whole pod template fits. */
const longest = 20_000;

/**
 * A command as it may be pasted; `null` where it must not be shown: it is very long, or holds characters that a reader does
 * not see but a shell does. Steps never produce such a command from names that Kubernetes allows.
 */
export function commandText(command: string): string | null {
  return command.length <= longest && plainText(command, longest) === command ? command : null;
}

/** What is shown in place of such a command. */
export const commandNotShown = "This command is not shown: it is too long, or holds characters that cannot be seen.";

/**
 * How far the search is, as a sentence with a blank before it; empty where the present moment was searched. Without it, nothing
 * found could be taken for nothing there.
 */
export function searchText({ search }: Pick<Advice, "search">): string {
  if (search === undefined || (!search.isGoingOn && search.waiting === 0)) return "";
  const going = search.isGoingOn ? "; the search of a later moment is still going on" : "";
  const plans = search.waiting === 1 ? "1 plan holds no more and is" : `${search.waiting} plans hold no more and are`;
  const waiting = search.waiting === 0 ? "" : `; ${plans} searched for again then`;
  return ` This is as of ${isoTime(search.at)}${going}${waiting}.`;
}
