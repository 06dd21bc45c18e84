import type { Analysis } from "../../analysis/analysis.ts";
import { type StalledParts, stalledParts, stallSuspects, suspectPods } from "../../analysis/stalledParts.ts";
import { mayBeQuietLong } from "../../analysis/stateLimits.ts";
import type { WorkloadView } from "../../join/snapshot.ts";
import { stallSignals } from "../../join/stall/stallSignals.ts";
import type { OwnerQuestion } from "../../model/adviceAct.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { AdviceCost, WithheldAdvice } from "../../model/recommendation.ts";
import { adviceCost } from "../adviceCost.ts";
import {
  type Candidate,
  candidatesPerKind,
  type FindAdvice,
  foundOf,
  type MadeCandidate,
  nothingFound,
  withheldPerKind,
  withhold,
} from "../candidate.ts";
import { decideAct } from "../decideAct.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName, momentIndex } from "../momentIndex.ts";
import { momentOrder } from "../momentOrder.ts";
import { lossWords, minuteWords } from "./idleTexts.ts";
import {
  type AllocatedPod,
  allocatedPods,
  hasWaitingPods,
  leftSignOf,
  type OwnGpus,
  ofWorkload,
  ownGpus,
} from "./ownGpus.ts";
import { costWords, countWords, durationWords, gpuWords, hourlyCostWords } from "./words.ts";

/**
 * A start may take this long (seconds) without a step: operators who watch steps allow 45 minutes (marin-community/marin, PR
 * 7692).
 */
const startSeconds = 45 * 60;

/**
 * Finds batch work that looks busy and computes nothing on any of its GPUs. Its owner is asked to look, and to restart it from
 * its last checkpoint if it hangs. There is one question for a whole gang. Work that computes on a part of its GPUs is left
 * alone, because the rest may wait for it; so is serving work, which looks the same while no request comes. Work with the most
 * GPUs comes first.
 */
export const findStalledWork: FindAdvice = (moment) => {
  const { analysis } = moment;
  if (analysis.pools.every(({ states }) => (states.stalled ?? 0) <= gpuTolerance)) return nothingFound;
  const made = mostStalled(analysis).map((workload) => candidateOf(moment, workload));
  const { candidates, withheld } = foundOf(made, withheldPerKind);
  return { candidates: candidates.slice(0, candidatesPerKind), withheld };
};

/** Workloads with stalled GPUs, at most as many as can be shown or named; those with the most GPUs come first. */
function mostStalled(analysis: Analysis): readonly WorkloadView[] {
  const { accountingEntries, snapshot } = analysis;
  const stalled = new Map<number, number>();
  for (const { pod, gpus } of accountingEntries.inState("stalled")) {
    const workload = pod === null ? undefined : snapshot.pods[pod]?.workload;
    if (workload !== undefined) stalled.set(workload, (stalled.get(workload) ?? 0) + gpus);
  }
  const found = [...stalled].flatMap(([index, gpus]) => {
    const workload = snapshot.workloads[index];
    return workload === undefined ? [] : [{ index, workload, gpus }];
  });
  const byWorkload = momentOrder(analysis).workloads;
  const ranked = found.sort((a, b) => b.gpus - a.gpus || byWorkload(a.index, b.index));
  return ranked.slice(0, candidatesPerKind + withheldPerKind).map(({ workload }) => workload);
}

function candidateOf(moment: AdviceMoment, workload: WorkloadView): MadeCandidate {
  const { analysis, settings } = moment;
  const { snapshot } = analysis;
  const guarded = (reason: string): WithheldAdvice => withhold("release_idle")(fullName(workload), "guard", reason);
  const allocated = allocatedPods(snapshot, workload);
  if (allocated === null || allocated.length === 0)
    return guarded("the API does not know one of its pods: telemetry alone names it");
  const members = allocated.map(({ index }) => index);
  const work = stalledParts(snapshot, members, momentIndex(analysis).devicesOf);
  const what = `${gpuWords(work.stalled.length)} GPUs look busy and compute nothing for ${durationWords(snapshot.at - work.since)}`;
  const doubt = doubtOf(analysis, workload, allocated, work);
  if (doubt !== null) return guarded(`${what}, but ${doubt}`);
  const own = ownGpus(moment, allocated);
  const gpus = [...own.byNode.values()].reduce((sum, amount) => sum + amount, 0);
  // It is unknown when the work would continue by itself or end. It is assumed to hang for as long again as it has so far.
  const hours = Math.min(settings.horizonHours, (snapshot.at - work.since) / 3600);
  const cost = adviceCost(moment, { disrupted: members });
  const worth = { gainedGpuHours: gpus * hours, lostGpuHours: cost.lostGpuHours };
  const decision = decideAct({ kind: "release_idle", idle: null, isStalled: true, ...worth }, settings);
  const facts: StalledFacts = { moment, workload, allocated, work, own, gpus, cost };
  const target = `${workload.kind} ${fullName(workload)}`;
  return {
    kind: "release_idle",
    ...ofWorkload(workload, own),
    need: ["stalled", target],
    ...stalledTexts(facts),
    plan: { changes: [], starts: [] },
    steps: [],
    questions: [stalledQuestion(facts)],
    decision,
    stalledSince: work.since,
    disrupted: members,
    gainedGpus: () => gpus,
    gainedGpuHours: () => gpus * hours,
    guards: [],
    blockedAlternatives: [],
    signs: [leftSignOf(allocated)],
    measuredBy: { kind: "work-restarted", pods: allocated.map(({ uid, pod }) => ({ uid, gpus: pod.gpus ?? 0 })) },
  };
}

/** Why the owner is not asked; `null`: nothing forbids it. */
function doubtOf(
  { snapshot }: Analysis,
  workload: WorkloadView,
  allocated: readonly AllocatedPod[],
  parts: StalledParts,
): string | null {
  const { computing, unknown } = parts;
  if (mayBeQuietLong(workload)) return "it serves, or may do so: a server that waits for requests looks the same";
  if (hasWaitingPods(snapshot, workload)) return "other pods of it wait";
  if (computing.length > 0) {
    const suspects = stallSuspects(parts);
    const who = suspects?.how === "computing" ? ` (${suspectPods(snapshot, suspects)})` : "";
    return `${gpuWords(computing.length)} more of its GPUs compute${who}: the others may wait for them`;
  }
  if (unknown > 0) return `nobody knows what ${gpuWords(unknown)} more of its GPUs do`;
  const begun = Math.max(...allocated.map(({ pod }) => pod.boundAt ?? pod.createdAt ?? snapshot.at));
  if (snapshot.at - begun < startSeconds)
    return `it was started ${durationWords(snapshot.at - begun)} ago: a start may wait for ${durationWords(startSeconds)}`;
  return null;
}

/** Everything that the texts mention about one workload that hangs. */
interface StalledFacts {
  readonly moment: AdviceMoment;
  readonly workload: WorkloadView;
  readonly allocated: readonly AllocatedPod[];
  readonly work: StalledParts;
  readonly own: OwnGpus;
  /** Physical GPUs that the workload holds. */
  readonly gpus: number;
  readonly cost: AdviceCost;
}

/** The texts about a workload that hangs, for people to read. */
function stalledTexts(facts: StalledFacts): Pick<Candidate, "title" | "reason" | "evidence" | "confidence"> {
  const { moment, workload, allocated, work, own, gpus, cost } = facts;
  const { prices, snapshot } = moment.analysis;
  const name = fullName(workload);
  const price = hourlyCostWords(prices, own.byNode);
  const lasts = durationWords(snapshot.at - work.since);
  const suspect = suspectWords(moment, work);
  return {
    // As with idle work, a title gives the time since which the work has been stalled, not for how long.
    title: `ask team ${workload.team} to restart ${name} if it hangs: ${gpuWords(gpus)} ${own.words} look busy and compute nothing since ${minuteWords(work.since)}`,
    reason: `${workload.kind} ${name} of team ${workload.team} holds ${gpuWords(gpus)} ${own.words} with ${countWords(allocated.length, "pod")}. In every sample of the last ${lasts} ${gpuWords(work.stalled.length)} of them looked busy while tensor pipe, DRAM and power said that nothing is computed.${suspect === null ? "" : ` ${sentence(suspect)}`}${price === "" ? "" : ` They cost ${price}.`}`,
    evidence: [
      { name: "GPUs allocated", value: gpuWords(gpus) },
      { name: "stalled for", value: lasts },
      ...signalsNow(work).map((value) => ({ name: "signal now", value })),
      ...(suspect === null ? [] : [{ name: "differs from the others", value: suspect }]),
      { name: "lost if it is restarted now", value: lossWords(cost) },
      { name: "nodes", value: `${own.byNode.size}` },
    ],
    confidence: {
      level: "medium",
      reasons: [
        `every sample of ${gpuWords(work.stalled.length)} GPUs was so for ${lasts}`,
        "no counter of a GPU distinguishes work that hangs from work that waits for something outside",
      ],
    },
  };
}

/** The question to the owner of a workload that hangs, with everything that is needed to answer it. */
function stalledQuestion({ moment, workload, work, own, cost }: StalledFacts): OwnerQuestion {
  const { prices, snapshot } = moment.analysis;
  const about = `${workload.kind} ${workload.namespace}/${workload.name}`;
  const seconds = snapshot.at - work.since;
  const spent = costWords(prices, own.byNode, seconds / 3600);
  const suspect = suspectWords(moment, work);
  return {
    to: `team ${workload.team}`,
    about,
    question: `Does ${about} still get on? If it hangs, please restart it from its last checkpoint.`,
    facts: [
      `its GPUs look busy and compute nothing since ${minuteWords(work.since)}, for ${durationWords(seconds)}: ${signalsNow(work).join(", ")}`,
      ...(suspect === null ? [] : [suspect]),
      ...(spent === "" ? [] : [`that time cost ${spent}`]),
      `restarted now, ${lossWords(cost)} of work would be undone${cost.isUpperBound ? ": no checkpoint is known" : ""}`,
    ],
  };
}

const signalsNow = ({ stalled }: StalledParts): readonly string[] =>
  stallSignals(stalled.flatMap(({ reading }) => reading ?? []));

/** If one rank has failed, the others wait for it, busy: the one that differs is the first to look at. */
function suspectWords({ analysis: { snapshot } }: AdviceMoment, work: StalledParts): string | null {
  const suspects = stallSuspects(work);
  if (suspects?.how !== "quiet") return null;
  return `nothing runs on ${gpuWords(suspects.gpus)} of its GPUs (${suspectPods(snapshot, suspects)}): look there first, the others may wait for it`;
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
