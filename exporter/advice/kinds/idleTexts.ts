import type { WorkloadView } from "../../join/snapshot.ts";
import type { OwnerQuestion } from "../../model/adviceAct.ts";
import type { IdleReason } from "../../model/idleReasons.ts";
import type { AdviceConfidence, AdviceCost } from "../../model/recommendation.ts";
import type { Candidate } from "../candidate.ts";
import type { ActDecision, IdlePast } from "../decideAct.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName } from "../momentIndex.ts";
import type { IdleWorkload } from "./idleWorkloads.ts";
import type { AllocatedPod, OwnGpus } from "./ownGpus.ts";
import { shortServers } from "./shortServers.ts";
import { costWords, countWords, durationWords, gpuWords, hourlyCostWords, percentWords } from "./words.ts";

/** Everything that the texts mention about one idle workload. */
export interface IdleFacts {
  readonly moment: AdviceMoment;
  readonly idle: IdleWorkload;
  readonly workload: WorkloadView;
  readonly allocated: readonly AllocatedPod[];
  readonly own: OwnGpus;
  readonly past: IdlePast;
  /** For how many more hours it is expected to be idle. */
  readonly idleHours: number;
  readonly cost: AdviceCost;
  readonly decision: ActDecision;
  /** What keeps it from being stopped, with the setting to change; `null`: nothing does. */
  readonly kept: string | null;
}

/** The texts about an idle workload that people read. */
export function idleTexts(facts: IdleFacts): Pick<Candidate, "title" | "reason" | "evidence" | "confidence"> {
  const { moment, idle, workload, allocated, own, past, idleHours, cost, decision } = facts;
  const { horizonHours } = moment.settings;
  const gpus = gpuWords(idle.gpus);
  const name = fullName(workload);
  const price = hourlyCostWords(moment.analysis.prices, own.byNode);
  const costs = price === "" ? "" : ` They cost ${price}.`;
  const returns = returnWords(past, horizonHours);
  const verb = decision.act === "ask" ? `ask team ${workload.team} about` : "release";
  const seen = seenWords[idle.reason];
  return {
    // A title does not change as long as the advice stays: it gives the time since which work is idle, not for how long.
    title: `${verb} ${gpus} idle ${own.words} of ${name}: ${seen.title} since ${minuteWords(idle.since)}`,
    reason: `${workload.kind} ${name} of team ${workload.team} holds ${gpus} ${own.words} with ${countWords(allocated.length, "pod")}. ${seen.reason} since ${new Date(idle.since * 1000).toISOString()}.${costs} Its habit: ${habitWords(past)}.`,
    evidence: [
      { name: "GPUs allocated", value: gpus },
      { name: "idle for", value: durationWords(past.idleSeconds) },
      { name: "habit", value: habitWords(past) },
      ...(returns === null ? [] : [{ name: "works again", value: returns }]),
      { name: "expected to stay idle", value: durationWords(idleHours * 3600) },
      { name: "lost if it is stopped now", value: lossWords(cost) },
      { name: "class", value: workload.workloadClass },
      { name: "nodes", value: `${own.byNode.size}` },
      ...shortServers(moment, own),
    ],
    confidence: confidenceOf(workload, idle, past, decision),
  };
}

/** What was seen of idle work, as beginnings of phrases that end with a time: since when. */
const seenWords: Readonly<
  Record<IdleReason, { readonly title: string; readonly reason: string; readonly fact: string }>
> = {
  "no-activity": {
    title: "nothing ran",
    reason: "Every signal of each of them has stayed at or below the idle threshold",
    fact: "nothing has run on them",
  },
  "no-requests": {
    title: "no request came",
    reason: "Whatever runs on them, the counters of requests of its server have stood still and none has run or waited",
    fact: "their server has had no request",
  },
  asleep: {
    title: "no request came and its server sleeps",
    reason: "Its server sleeps, its weights off the GPUs, and the counters of its requests have stood still",
    fact: "their server sleeps and has had no request",
  },
};

/** What may be lost, in words: `at most 3.1 GPU-hours`. */
export const lossWords = ({ lostGpuHours, isUpperBound }: AdviceCost): string =>
  `${isUpperBound ? "at most " : ""}${lostGpuHours.toFixed(1)} GPU-hours`;

/** The question to the owner of an idle workload, with everything that is needed to answer it. */
export function idleQuestion({ moment, idle, workload, own, past, cost, kept }: IdleFacts): OwnerQuestion {
  const about = `${workload.kind} ${workload.namespace}/${workload.name}`;
  const { analysis, settings } = moment;
  const spent = costWords(analysis.prices, own.byNode, past.idleSeconds / 3600);
  const returns = returnWords(past, settings.horizonHours);
  return {
    to: `team ${workload.team}`,
    about,
    question: `Does ${about} still need its ${gpuWords(idle.gpus)} ${own.words}?`,
    facts: [
      `${seenWords[idle.reason].fact} since ${minuteWords(idle.since)}, for ${durationWords(past.idleSeconds)}`,
      ...(spent === "" ? [] : [`that time cost ${spent}`]),
      `its habit: ${habitWords(past)}`,
      ...(returns === null ? [] : [`expected to work again: ${returns}`]),
      `stopped now, ${lossWords(cost)} of work would be undone${cost.isUpperBound ? ": no checkpoint is known" : ""}`,
      ...(kept === null ? [] : [kept]),
      ...(workload.kind === "Notebook" ? ["what a notebook keeps in memory would be lost"] : []),
    ],
  };
}

/** A time (seconds since the epoch) to the minute: `2026-11-16 09:50 UTC`. */
export const minuteWords = (at: number): string =>
  `${new Date(at * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;

function confidenceOf(
  { workloadClass, kind }: WorkloadView,
  { reason }: IdleWorkload,
  past: IdlePast,
  { act }: ActDecision,
): AdviceConfidence {
  const seen =
    reason === "no-activity"
      ? "every sample of every GPU of it was idle"
      : "every page of its servers showed no request and the same counters";
  const reasons = [`${seen} for ${durationWords(past.idleSeconds)}`];
  if (kind === "Notebook") reasons.push("what a notebook keeps in memory is lost: ask its author");
  if (workloadClass === "serving") reasons.push("it serves requests: the next one may come at any time");
  if (!past.neverWorked) reasons.push(`it has worked before, and may do so again: ${habitWords(past)}`);
  if (act === "ask") return { level: "low", reasons };
  return { level: workloadClass === "serving" || !past.neverWorked ? "medium" : "high", reasons };
}

const habitBases = {
  own: "by its own past",
  cluster: "by what other work of this cluster did",
  published: "by what is published of idle work elsewhere",
} as const;

/** What is known about the pauses of the work, in a few words: `came back 6 of 7 times, after 8 min`. */
function habitWords({ neverWorked, habit, estimate }: IdlePast): string {
  if (neverWorked) return "never worked since it began";
  const { spells, returns, medianReturnSeconds } = estimate;
  if (spells > 0) {
    const after = medianReturnSeconds === null ? "" : `, after ${durationWords(medianReturnSeconds)}`;
    return `came back ${returns} of ${spells} times${after}`;
  }
  if (habit === undefined || habit.spells.length === 0) return "not known yet";
  const longest = habit.longestReturnSeconds;
  const often = countWords(habit.spells.length, "shorter pause");
  return longest === 0
    ? `${often}, none of which ended in work`
    : `${often}, came back after ${durationWords(longest)} at most`;
}

/** How likely it is that the work continues by itself, and how this was estimated, in words. */
const returnWords = ({ neverWorked, estimate }: IdlePast, horizonHours: number): string | null =>
  neverWorked
    ? null
    : `${percentWords(estimate.returnProbability)} within ${horizonHours} h, ${habitBases[estimate.basis]}`;
