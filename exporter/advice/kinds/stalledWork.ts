import type { Analysis } from "../../analysis/analysis.ts";
import { stalledSince } from "../../analysis/stalledSince.ts";
import { mayBeQuietLong } from "../../analysis/stateLimits.ts";
import type { Device, NodeView, WorkloadView } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { adviceCost } from "../adviceCost.ts";
import { type Candidate, candidatesPerKind, type FindAdvice, type MadeCandidate, nothingFound } from "../candidate.ts";
import { decideAct } from "../decideAct.ts";
import type { AdviceMoment } from "../moment.ts";
import { byPlace, momentOrder } from "../order/momentOrder.ts";
import { momentIndex } from "../whatIf/momentIndex.ts";
import {
  type AllocatedPod,
  allocatedPods,
  hasWaitingPods,
  nodesByName,
  ownGpus,
  withheldList,
  withheldPerKind,
} from "./ownGpus.ts";
import { type StalledFacts, type StalledWork, stalledQuestion, stalledTexts } from "./stalledTexts.ts";
import { durationWords, gpuWords } from "./words.ts";

/** A start may wait for long without a step: those who watch steps give it 45 minutes (marin-community/marin, PR 7692). */
const startSeconds = 45 * 60;

const nameOf = ({ namespace, name }: WorkloadView): string => `${namespace}/${name}`;

/**
 * Batch work that looks busy and computes nothing on any of its GPUs: its owner is asked to look, and to restart it from its last
 * checkpoint if it hangs. One question for a whole gang. Work of which a part computes is left alone: the rest may wait for it;
 * so is what serves, which looks the same while no request comes. The most GPUs first.
 */
export const findStalledWork: FindAdvice = (moment) => {
  const { analysis } = moment;
  const { snapshot } = analysis;
  if (analysis.pools.every(({ states }) => (states.stalled ?? 0) <= gpuTolerance)) return nothingFound;
  const withheld = withheldList("release_idle");
  const candidates: Candidate[] = [];
  const nodes = nodesByName(snapshot);
  for (const workload of mostStalled(analysis)) {
    const made = candidateOf(moment, workload, nodes);
    if (made.ok) candidates.push(made.candidate);
    else withheld.add(made.why, nameOf(workload), made.reason);
  }
  return { candidates: candidates.slice(0, candidatesPerKind), withheld: withheld.list };
};

/** Workloads with stalled GPUs, the most GPUs first; as many as can be shown or named. */
function mostStalled(analysis: Analysis): readonly WorkloadView[] {
  const { accountingEntries, snapshot } = analysis;
  const stalled = new Map<number, number>();
  for (const { state, pod, gpus } of accountingEntries) {
    const workload = state !== "stalled" || pod === null ? undefined : snapshot.pods[pod]?.workload;
    if (workload !== undefined) stalled.set(workload, (stalled.get(workload) ?? 0) + gpus);
  }
  const found = [...stalled].flatMap(([index, gpus]) => {
    const workload = snapshot.workloads[index];
    return workload === undefined ? [] : [{ index, workload, gpus }];
  });
  const byWorkload = byPlace(momentOrder(analysis).ofWorkload);
  const ranked = found.sort((a, b) => b.gpus - a.gpus || byWorkload(a.index, b.index));
  return ranked.slice(0, candidatesPerKind + withheldPerKind).map(({ workload }) => workload);
}

function candidateOf(
  moment: AdviceMoment,
  workload: WorkloadView,
  nodes: ReadonlyMap<string, NodeView>,
): MadeCandidate {
  const { analysis, settings } = moment;
  const { snapshot } = analysis;
  const allocated = allocatedPods(snapshot, workload);
  if (allocated === null || allocated.length === 0)
    return { ok: false, why: "guard", reason: "the API does not know one of its pods: telemetry alone names it" };
  const work = workOf(analysis, allocated);
  const what = `${gpuWords(work.stalled.length)} GPUs look busy and compute nothing for ${durationWords(snapshot.at - work.since)}`;
  const doubt = doubtOf(analysis, workload, allocated, work);
  if (doubt !== null) return { ok: false, why: "guard", reason: `${what}, but ${doubt}` };
  const disrupted = allocated.map(({ index }) => index);
  const own = ownGpus(snapshot, allocated, nodes);
  const gpus = [...own.byNode.values()].reduce((sum, amount) => sum + amount, 0);
  // Nobody knows when it would go on by itself, or end: for as long again as it has lasted.
  const hours = Math.min(settings.horizonHours, (snapshot.at - work.since) / 3600);
  const cost = adviceCost(moment, { disrupted });
  const worth = { gainedGpuHours: gpus * hours, lostGpuHours: cost.lostGpuHours };
  const decision = decideAct({ kind: "release_idle", idle: null, isStalled: true, ...worth }, settings);
  const facts: StalledFacts = { moment, workload, allocated, work, own, gpus, cost };
  const target = `${workload.kind} ${nameOf(workload)}`;
  return {
    ok: true,
    candidate: {
      kind: "release_idle",
      beneficiary: { kind: "team", name: workload.team },
      targets: [target],
      need: ["stalled", target],
      ...stalledTexts(facts),
      ...{ fromTeam: workload.team, forTeam: "", queue: workload.queue ?? "", pool: own.pool },
      plan: { changes: [], starts: [] },
      steps: [],
      questions: [stalledQuestion(facts)],
      decision,
      stalledSince: work.since,
      disrupted,
      gainedGpus: () => gpus,
      gainedGpuHours: () => gpus * hours,
      guards: [],
      blockedAlternatives: [],
      signs: [{ kind: "pods-left", pods: allocated.map(({ uid, node }) => ({ uid, node })) }],
      measuredBy: { kind: "work-restarted", pods: allocated.map(({ uid, pod }) => ({ uid, gpus: pod.gpus ?? 0 })) },
    },
  };
}

/** What the GPUs of a workload show, each as one of three. */
function workOf(analysis: Analysis, allocated: readonly AllocatedPod[]): StalledWork {
  const { devices } = analysis.snapshot;
  const index = momentIndex(analysis);
  const work = { stalled: [] as Device[], quiet: [] as AllocatedPod[], computing: 0, unknown: 0, since: 0 };
  for (const one of allocated)
    for (const place of index.devicesOf(one.index)) {
      const device = devices[place];
      const holding = device?.holders.find(({ pod }) => pod === one.index);
      if (device === undefined || holding === undefined) continue;
      const since = stalledSince(holding, one.pod, device);
      if (since !== null) {
        work.stalled.push(device);
        work.since = Math.max(work.since, since);
      } else if (holding.activity === null || holding.estimated) work.unknown += 1;
      else if (device.idleNow === true) work.quiet.push(one);
      else work.computing += 1;
    }
  return work;
}

/** Why its owner is not asked; `null`: nothing speaks against it. */
function doubtOf(
  { snapshot }: Analysis,
  workload: WorkloadView,
  allocated: readonly AllocatedPod[],
  { computing, unknown }: StalledWork,
): string | null {
  if (mayBeQuietLong(workload)) return "it serves, or may do so: a server that waits for requests looks the same";
  if (hasWaitingPods(snapshot, workload)) return "other pods of it wait";
  if (computing > 0) return `${gpuWords(computing)} more of its GPUs compute: the others may wait for them`;
  if (unknown > 0) return `nobody knows what ${gpuWords(unknown)} more of its GPUs do`;
  const begun = Math.max(...allocated.map(({ pod }) => pod.boundAt ?? pod.createdAt ?? snapshot.at));
  if (snapshot.at - begun < startSeconds)
    return `it was started ${durationWords(snapshot.at - begun)} ago: a start may wait for ${durationWords(startSeconds)}`;
  return null;
}
