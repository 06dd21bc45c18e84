import type { NodeView, Snapshot, WorkloadView } from "../../join/snapshot.ts";
import { gpuResources } from "../../model/wellKnown.ts";
import { type Candidate, candidatesPerKind, type FindAdvice, type MadeCandidate } from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import { momentOrder } from "../momentOrder.ts";
import { unusedSince } from "../savedMoney.ts";
import { changeRequest } from "../steps/requestSteps.ts";
import { type WatchedWorkload, type WorkloadUsage, watchedLong } from "../usage/usageWatch.ts";
import { findGangsToStart, type GangsToStart } from "./gangsToStart.ts";
import {
  type AllocatedPod,
  allocatedPods,
  askRelease,
  nodesByName,
  ownGpus,
  vetoWords,
  withheldList,
  withheldPerKind,
} from "./ownGpus.ts";
import { countWords, durationWords, gpuWords, hourlyCostWords } from "./words.ts";

const wholeTolerance = 1e-6;

/**
 * Workloads whose pods each ask for more GPUs than any of them has ever used while it was watched, although some are used. The
 * ones with the most GPUs to spare first.
 */
export const findRightSize: FindAdvice = (moment) => {
  const { analysis } = moment;
  const large: WatchedWorkload[] = [];
  for (const watched of watchedLong(moment)) {
    const { activeGpus, gpus } = watched.usage;
    if (activeGpus.size > 0 && activeGpus.size < gpus - wholeTolerance) large.push(watched);
  }
  const withheld = withheldList("right_size");
  if (large.length === 0) return { candidates: [], withheld: [] };
  const byWorkload = momentOrder(analysis).workloads;
  large.sort((a, b) => spare(b) - spare(a) || byWorkload(a.usage.workload, b.usage.workload));
  const toStart = findGangsToStart(analysis);
  const nodes = nodesByName(analysis.snapshot);
  const candidates: Candidate[] = [];
  for (const { usage, workload } of large.slice(0, candidatesPerKind + withheldPerKind)) {
    if (candidates.length >= candidatesPerKind) break;
    const made = candidateOf(moment, usage, workload, toStart, nodes);
    if (made.ok) candidates.push(made.candidate);
    else withheld.add(made.why, `${workload.namespace}/${workload.name}`, made.reason);
  }
  return { candidates, withheld: withheld.list };
};

const spare = ({ usage }: WatchedWorkload): number => Math.round(usage.gpus) - usage.activeGpus.size;

const noPlan = (reason: string): MadeCandidate => ({ ok: false, why: "no-plan", reason });

function candidateOf(
  moment: AdviceMoment,
  usage: WorkloadUsage,
  workload: WorkloadView,
  toStart: GangsToStart,
  nodes: ReadonlyMap<string, NodeView>,
): MadeCandidate {
  const { snapshot, prices } = moment.analysis;
  const allocated = allocatedPods(snapshot, workload);
  const asked = allocated?.[0]?.pod.gpus ?? null;
  const spareWords = `${countWords(Math.round(usage.gpus) - usage.activeGpus.size, "GPU")} of its ${gpuWords(usage.gpus)}`;
  const watchedFor = durationWords(snapshot.at - usage.since);
  const what = `${spareWords} did nothing for ${watchedFor}`;
  if (allocated === null || asked === null)
    return { ok: false, why: "guard", reason: `${what}, but not all of its pods are known` };
  if (allocated.some(({ pod }) => pod.gpus !== asked))
    return noPlan(`${what}, but its pods do not all ask for the same`);
  const used = mostUsed(snapshot, allocated, usage.activeGpus, nodes);
  if (used >= asked)
    return noPlan(`${what}, but one of its pods used all of its ${gpuWords(asked)}: fewer pods may do`);
  if (!allocated.every(({ pod }) => pod.needs?.requests[gpuResources.nvidia] === asked))
    return noPlan(`${what}, but its pods do not ask for them as ${gpuResources.nvidia}`);
  const changed = changeRequest(moment, usage.workload, { resource: gpuResources.nvidia, amount: used });
  if (!changed.ok) return noPlan(`${what}, ${used} for each pod would be enough: ${changed.reason}`);
  const guards = askRelease(moment, allocated);
  const veto = vetoWords(guards);
  if (veto !== null) return { ok: false, why: "guard", reason: `${what}: ${veto}` };
  const own = ownGpus(snapshot, allocated, nodes, (asked - used) / asked);
  const price = hourlyCostWords(prices, own.byNode);
  const name = `${workload.namespace}/${workload.name}`;
  const id = `${workload.kind}/${name}`;
  const cost = price === "" ? "" : ` What it does not use costs ${price}.`;
  const candidate: Candidate = {
    kind: "right_size",
    beneficiary: { kind: "team", name: workload.team },
    targets: [`${workload.kind} ${name}`],
    title: `ask team ${workload.team} whether ${used} instead of ${gpuWords(asked)} ${own.words} are enough for each pod of ${name}`,
    reason: `${countWords(allocated.length, "pod")} of ${workload.kind} ${name} of team ${workload.team} hold ${gpuWords(asked)} ${own.words} each. In ${watchedFor} no pod has used more than ${used} of them: nothing ran on the others in any sample.${cost}`,
    evidence: [
      { name: "watched for", value: watchedFor },
      { name: "GPUs per pod", value: gpuWords(asked) },
      { name: "GPUs that a pod ever used", value: `${used}` },
      { name: "GPUs busy at once at most", value: gpuWords(usage.peakActiveGpus) },
    ],
    fromTeam: workload.team,
    forTeam: "",
    queue: workload.queue ?? "",
    pool: own.pool,
    plan: { changes: [{ kind: "shrink", workload: usage.workload, gpusPerPod: used }], starts: toStart(own) },
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
    disrupted: allocated.map(({ index }) => index),
    gainedGpus: ({ released }) => released.get(usage.workload) ?? 0,
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
  return { ok: true, candidate };
}

/** The most GPUs of one pod that were ever active. */
function mostUsed(
  { devices }: Snapshot,
  allocated: readonly AllocatedPod[],
  active: ReadonlySet<string>,
  nodes: ReadonlyMap<string, NodeView>,
): number {
  const byPod = new Map(allocated.map(({ index }) => [index, 0]));
  for (const name of new Set(allocated.map(({ node }) => node))) {
    for (const device of nodes.get(name)?.devices ?? []) {
      const { uuid = null, holders = [] } = devices[device] ?? {};
      if (uuid === null || !active.has(uuid)) continue;
      for (const { pod } of holders) byPod.set(pod, (byPod.get(pod) ?? 0) + 1);
    }
  }
  return Math.max(0, ...allocated.map(({ index }) => byPod.get(index) ?? 0));
}
