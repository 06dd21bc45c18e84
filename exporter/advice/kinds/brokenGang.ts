import type { PartialGang } from "../../analysis/waiting/waiting.ts";
import { adviceCost } from "../adviceCost.ts";
import { type Candidate, type MadeCandidate, withhold } from "../candidate.ts";
import { decideAct } from "../decideAct.ts";
import type { AdviceMoment } from "../moment.ts";
import { momentIndex } from "../momentIndex.ts";
import { lossWords, minuteWords } from "./idleTexts.ts";
import { type AllocatedPod, leftSignOf, type OwnGpus, ofWorkload, ownGpus } from "./ownGpus.ts";
import { costWords, countWords, durationWords, gpuWords, hourlyCostWords } from "./words.ts";

const kind = "unblock_gang";

/** Without its member a gang is expected to stay as it is for as long as it has been so, and for this long at least. */
const leastHours = 1;

/**
 * Asks the owner of a gang that has run and lost a member to restart it whole, from its last checkpoint: what is left holds GPUs
 * and computes nothing, and no scheduler looks at a gang again once it was placed.
 */
export function restartedWhole(moment: AdviceMoment, gang: PartialGang): MadeCandidate {
  const { analysis, settings } = moment;
  const { snapshot, prices } = analysis;
  const allocated = membersOf(moment, gang.id);
  const workload = snapshot.workloads[snapshot.pods[allocated?.[0]?.index ?? -1]?.workload ?? -1];
  if (allocated === null || workload === undefined)
    return withhold(kind)(gang.id, "guard", "the API does not know one of its pods: telemetry alone names it");
  const own = ownGpus(moment, allocated);
  const members = allocated.map(({ index }) => index);
  const seconds = snapshot.at - gang.since;
  const hours = Math.min(settings.horizonHours, Math.max(leastHours, seconds / 3600));
  const cost = adviceCost(moment, { disrupted: members });
  const gainedGpuHours = gang.allocatedGpus * hours;
  const worth = { gainedGpuHours, lostGpuHours: cost.lostGpuHours };
  return {
    kind,
    ...ofWorkload(workload, own),
    need: ["broken gang", gang.id],
    ...textsOf(moment, gang, own, lossWords(cost)),
    plan: { changes: [], starts: [] },
    steps: [],
    questions: [
      {
        to: `team ${gang.team}`,
        about: gang.owner,
        question: `Does ${gang.owner} go on without the member that it lost? If not, please restart it whole, from its last checkpoint.`,
        facts: [
          `it has ${gang.bound} of the ${countWords(gang.min, "member")} that it needs since ${minuteWords(gang.since)}, for ${durationWords(seconds)}, and none of its GPUs does anything`,
          ...spentFacts(costWords(prices, own.byNode, seconds / 3600)),
          `restarted now, ${lossWords(cost)} of work would be undone${cost.isUpperBound ? ": no checkpoint is known" : ""}; without its member most programs lose them in any case`,
        ],
      },
    ],
    decision: decideAct({ kind, idle: null, losesWork: true, ...worth }, settings),
    hasLostItsWork: true,
    disrupted: members,
    gainedGpus: () => gang.allocatedGpus,
    gainedGpuHours: () => gainedGpuHours,
    guards: [],
    blockedAlternatives: [],
    signs: [leftSignOf(allocated)],
    measuredBy: { kind: "work-restarted", pods: allocated.map(({ uid, pod }) => ({ uid, gpus: pod.gpus ?? 0 })) },
  };
}

const spentFacts = (spent: string): readonly string[] => (spent === "" ? [] : [`that time cost ${spent}`]);

/** Its members that hold GPUs; `null` where one of them cannot be recognised again, or none is there. */
function membersOf({ analysis }: AdviceMoment, id: string): readonly AllocatedPod[] | null {
  const found: AllocatedPod[] = [];
  for (const index of momentIndex(analysis).gangMembers(id)) {
    const pod = analysis.snapshot.pods[index];
    if (pod === undefined) continue;
    if (pod.status !== "allocated" || pod.uid === null || pod.node === null) return null;
    found.push({ index, pod, uid: pod.uid, node: pod.node });
  }
  return found.length === 0 ? null : found;
}

/** The texts about it that people read. */
function textsOf(
  { analysis: { snapshot, prices } }: AdviceMoment,
  gang: PartialGang,
  own: OwnGpus,
  loss: string,
): Pick<Candidate, "title" | "reason" | "evidence" | "confidence"> {
  const { owner, team, bound, min, since, allocatedGpus } = gang;
  const gpus = gpuWords(allocatedGpus);
  const price = hourlyCostWords(prices, own.byNode);
  const held = ((snapshot.at - since) * allocatedGpus) / 3600;
  return {
    // As of idle work, a title says since when, not for how long.
    title: `ask team ${team} to restart ${owner} whole, from its last checkpoint: it has lost a member, and ${gpus} ${own.words} do nothing since ${minuteWords(since)}`,
    reason: `${owner} of team ${team} has run, and has ${bound} of the ${countWords(min, "member")} that it needs since ${minuteWords(since)}. It holds ${gpus} ${own.words} that do nothing, and no scheduler places a gang anew that has run.${price === "" ? "" : ` They cost ${price}.`}`,
    evidence: [
      { name: "GPUs allocated", value: gpus },
      { name: "GPU-hours held since", value: held.toFixed(1) },
      { name: "below its minimum for", value: durationWords(snapshot.at - since) },
      { name: "lost if it is restarted now", value: loss },
      { name: "nodes", value: `${own.byNode.size}` },
    ],
    confidence: {
      level: "medium",
      reasons: [
        `it had all of the ${countWords(min, "member")} that it needs, and has ${bound}; no signal of their GPUs shows work`,
        "whether its program can go on with fewer members, only its owner knows",
      ],
    },
  };
}
