import type { Device, WorkloadView } from "../../join/snapshot.ts";
import { stallSignals } from "../../join/stall/stallSignals.ts";
import type { OwnerQuestion } from "../../model/adviceAct.ts";
import type { AdviceCost } from "../../model/recommendation.ts";
import type { Candidate } from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import { costWords, hourlyCostWords } from "./hourlyCost.ts";
import { lossWords, minuteWords } from "./idleTexts.ts";
import type { AllocatedPod, OwnGpus } from "./ownGpus.ts";
import { countWords, durationWords, gpuWords } from "./words.ts";

/** The GPUs of a workload by what they show. */
export interface StalledWork {
  readonly stalled: readonly Device[];
  /** A pod for each GPU on which nothing runs. */
  readonly quiet: readonly AllocatedPod[];
  /** GPUs that compute, and those of which nobody knows it. */
  readonly computing: number;
  readonly unknown: number;
  /** Since when all of `stalled` have been so, seconds since the epoch. */
  readonly since: number;
}

/** Everything that is said of one workload that hangs. */
export interface StalledFacts {
  readonly moment: AdviceMoment;
  readonly workload: WorkloadView;
  readonly allocated: readonly AllocatedPod[];
  readonly work: StalledWork;
  readonly own: OwnGpus;
  /** Physical GPUs that it holds. */
  readonly gpus: number;
  readonly cost: AdviceCost;
}

/** What people read of it. */
export function stalledTexts(facts: StalledFacts): Pick<Candidate, "title" | "reason" | "evidence" | "confidence"> {
  const { moment, workload, allocated, work, own, gpus, cost } = facts;
  const { prices, snapshot } = moment.analysis;
  const name = `${workload.namespace}/${workload.name}`;
  const price = hourlyCostWords(prices, own.byNode);
  const lasts = durationWords(snapshot.at - work.since);
  const suspect = suspectWords(work);
  return {
    // As of idle work, a title says since when, not for how long.
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

/** What its owner is asked, with all that it takes to answer. */
export function stalledQuestion({ moment, workload, work, own, cost }: StalledFacts): OwnerQuestion {
  const { prices, snapshot } = moment.analysis;
  const about = `${workload.kind} ${workload.namespace}/${workload.name}`;
  const seconds = snapshot.at - work.since;
  const spent = costWords(prices, own.byNode, seconds / 3600);
  const suspect = suspectWords(work);
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

const signalsNow = ({ stalled }: StalledWork): readonly string[] =>
  stallSignals(stalled.flatMap(({ reading }) => reading ?? []));

/** Where one rank has failed, the others wait for it, busy: the one that differs is where to look first. */
function suspectWords({ quiet, stalled }: StalledWork): string | null {
  if (quiet.length === 0 || quiet.length > stalled.length) return null;
  const pods = [...new Set(quiet.map(({ pod, node }) => `${pod.name} on ${node}`))].sort();
  const shown = pods.slice(0, mostNamed).join(", ");
  const more = pods.length > mostNamed ? ` and ${pods.length - mostNamed} more` : "";
  return `nothing runs on ${gpuWords(quiet.length)} of its GPUs (${shown}${more}): look there first, the others may wait for it`;
}

const mostNamed = 3;

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
