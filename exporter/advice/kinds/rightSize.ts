import { firstInOrder } from "../../kernel/firstInOrder.ts";
import type { WithheldAdvice, WithheldReason } from "../../model/recommendation.ts";
import { gpuResources } from "../../model/wellKnown.ts";
import {
  candidatesPerKind,
  type FindAdvice,
  foundOf,
  isCandidate,
  type MadeCandidate,
  nothingFound,
  withheldPerKind,
  withhold,
} from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName, momentIndex } from "../momentIndex.ts";
import { momentOrder } from "../momentOrder.ts";
import { unusedSince } from "../savedMoney.ts";
import { changeRequest } from "../steps/requestSteps.ts";
import { type WatchedWorkload, watchedLong } from "../usage/usageWatch.ts";
import { findGangsToStart, type GangsToStart } from "./gangsToStart.ts";
import { type AllocatedPod, allocatedPods, askRelease, ofWorkload, ownGpus, vetoWords } from "./ownGpus.ts";
import { countWords, durationWords, gpuWords, hourlyCostWords } from "./words.ts";

/**
 * Finds workloads whose pods each ask for more GPUs than any of them has ever used while it was watched, although some are
 * used. Those with the most GPUs to spare come first.
 */
export const findRightSize: FindAdvice = (moment) => {
  const { analysis } = moment;
  const large: WatchedWorkload[] = [];
  for (const watched of watchedLong(moment)) {
    if (watched.usage.activeGpus.size > 0 && spare(watched) > 0) large.push(watched);
  }
  if (large.length === 0) return nothingFound;
  const byWorkload = momentOrder(analysis).workloads;
  const first = firstInOrder(
    large,
    candidatesPerKind + withheldPerKind,
    (a, b) => spare(b) - spare(a) || byWorkload(a.index, b.index),
  );
  const toStart = findGangsToStart(analysis);
  const found: MadeCandidate[] = [];
  for (const watched of first) {
    if (found.filter(isCandidate).length >= candidatesPerKind) break;
    found.push(candidateOf(moment, watched, toStart));
  }
  return foundOf(found, withheldPerKind);
};

/** GPUs of pods with several that nothing has run on. Which GPUs of other pods were used is not watched. */
const spare = ({ usage }: Pick<WatchedWorkload, "usage">): number => usage.severalGpus - usage.activeGpus.size;

function candidateOf(
  moment: AdviceMoment,
  { usage, workload, index }: WatchedWorkload,
  toStart: GangsToStart,
): MadeCandidate {
  const { snapshot, prices } = moment.analysis;
  const name = fullName(workload);
  const none = (why: WithheldReason, reason: string): WithheldAdvice => withhold("right_size")(name, why, reason);
  const noPlan = (reason: string): WithheldAdvice => none("no-plan", reason);
  const allocated = allocatedPods(snapshot, workload);
  const asked = allocated?.[0]?.pod.gpus ?? null;
  const spareWords = `${countWords(spare({ usage }), "GPU")} of its ${gpuWords(usage.gpus)}`;
  const watchedFor = durationWords(snapshot.at - usage.since);
  const what = `${spareWords} did nothing for ${watchedFor}`;
  if (allocated === null || asked === null) return none("guard", `${what}, but not all of its pods are known`);
  if (allocated.some(({ pod }) => pod.gpus !== asked))
    return noPlan(`${what}, but its pods do not all ask for the same`);
  const used = mostUsed(moment, allocated, usage.activeGpus);
  if (used >= asked)
    return noPlan(`${what}, but one of its pods used all of its ${gpuWords(asked)}: fewer pods may do`);
  if (!allocated.every(({ pod }) => pod.needs?.requests[gpuResources.nvidia] === asked))
    return noPlan(`${what}, but its pods do not ask for them as ${gpuResources.nvidia}`);
  const changed = changeRequest(moment, index, { resource: gpuResources.nvidia, amount: used });
  if (!changed.ok) return noPlan(`${what}, ${used} for each pod would be enough: ${changed.reason}`);
  const guards = askRelease(moment, allocated);
  const veto = vetoWords(guards);
  if (veto !== null) return none("guard", `${what}: ${veto}`);
  const own = ownGpus(moment, allocated, (asked - used) / asked);
  const price = hourlyCostWords(prices, own.byNode);
  const id = `${workload.kind}/${name}`;
  const cost = price === "" ? "" : ` What it does not use costs ${price}.`;
  return {
    kind: "right_size",
    ...ofWorkload(workload, own),
    title: `ask team ${workload.team} whether ${used} instead of ${gpuWords(asked)} ${own.words} are enough for each pod of ${name}`,
    reason: `${countWords(allocated.length, "pod")} of ${workload.kind} ${name} of team ${workload.team} hold ${gpuWords(asked)} ${own.words} each. In ${watchedFor} no pod has used more than ${used} of them: nothing ran on the others in any sample.${cost}`,
    evidence: [
      { name: "watched for", value: watchedFor },
      { name: "GPUs per pod", value: gpuWords(asked) },
      { name: "GPUs that a pod ever used", value: `${used}` },
      { name: "GPUs busy at once at most", value: gpuWords(usage.peakActiveGpus) },
    ],
    plan: { changes: [{ kind: "shrink", workload: index, gpusPerPod: used }], starts: toStart(own) },
    steps: changed.steps,
    questions: [
      {
        to: `team ${workload.team}`,
        about: `${workload.kind} ${name}`,
        question: `Would ${used} instead of ${gpuWords(asked)} GPUs be enough for each pod of ${workload.kind} ${name}?`,
        facts: [
          `in ${watchedFor} no pod has used more than ${used} of them, and ${gpuWords(usage.peakActiveGpus)} were busy at once at most`,
          "the change is made in the template of its pods, which are made anew for it",
        ],
      },
    ],
    disrupted: allocated.map((pod) => pod.index),
    gainedGpus: ({ released }) => released.get(index) ?? 0,
    unused: unusedSince(own.byNode, usage.since),
    confidence: {
      level: "medium",
      reasons: [
        `no sample of ${watchedFor} shows anything on the other GPUs`,
        "whether its program reads the number of GPUs from its request, only its author knows",
      ],
    },
    guards: guards.checked,
    blockedAlternatives: [],
    signs: [{ kind: "request-changed", workload: id, gpusPerPod: used }],
    measuredBy: { kind: "work-released", work: [id], gpus: usage.gpus },
  };
}

/** The largest number of GPUs that were ever active in one pod. */
function mostUsed({ analysis }: AdviceMoment, allocated: readonly AllocatedPod[], active: ReadonlySet<string>): number {
  const { devices } = analysis.snapshot;
  const { node } = momentIndex(analysis);
  const used = new Map<number, number>();
  for (const name of new Set(allocated.map((own) => own.node))) {
    for (const index of node(name)?.devices ?? []) {
      const { uuid = null, holders = [] } = devices[index] ?? {};
      if (!active.has(uuid ?? "")) continue;
      for (const pod of new Set(holders.map((holder) => holder.pod))) used.set(pod, (used.get(pod) ?? 0) + 1);
    }
  }
  return Math.max(0, ...allocated.map(({ index }) => used.get(index) ?? 0));
}
