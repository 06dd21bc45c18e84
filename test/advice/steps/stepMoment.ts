import type { AdviceMoment } from "../../../exporter/advice/moment.ts";
import type { StepsFound } from "../../../exporter/advice/steps/step.ts";
import { nothingWatched } from "../../../exporter/advice/usage/usageWatch.ts";
import { analyse, analysisSettings } from "../../../exporter/analysis/analyse.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import { noQueueing, type QueueView } from "../../../exporter/join/queues/queueing.ts";
import type { NodePoolView, PodView, Snapshot, WorkloadView } from "../../../exporter/join/snapshot.ts";
import type { OwnerRef } from "../../../exporter/model/pod.ts";
import { noQueueObjects, type QueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import type { AdviceStep } from "../../../exporter/model/recommendation.ts";
import { moment, podView } from "../../analysis/momentBuilder.ts";
import { queueView, quotaDomain } from "../../queues/queueView.ts";

/** What is advised from: a snapshot with these parts, analysed. */
export function momentOf(parts: Partial<Snapshot>): AdviceMoment {
  const analysis = analyse(moment(parts), analysisSettings(defaultConfig));
  return { analysis, settings: defaultConfig.advice, usage: nothingWatched };
}

export function owner(apiVersion: string, kind: string, name: string, parts: Partial<OwnerRef> = {}): OwnerRef {
  return { apiVersion, kind, name, uid: `uid-${name}`, ...parts };
}

/** A workload by its owners from the pods' controller up; without any, a bare pod. */
export function workloadView(owners: readonly OwnerRef[], parts: Partial<WorkloadView> = {}): WorkloadView {
  const top = owners.at(-1);
  return {
    kind: top?.kind ?? "Pod",
    namespace: "research",
    name: top?.name ?? "job",
    team: "vision",
    owner: null,
    queue: null,
    localQueue: null,
    priorityClass: "none",
    priority: 0,
    workloadClass: "batch",
    createdAt: null,
    gang: null,
    ownerUids: owners.map(({ uid }) => uid),
    owners,
    job: null,
    queueObject: null,
    progressUnits: null,
    pods: [0],
    ...parts,
  };
}

/** A moment of one workload with so many held pods on node `n`, each with a GPU. */
export function workloadMoment(
  owners: readonly OwnerRef[],
  parts: Partial<WorkloadView> = {},
  more: { readonly pods?: number; readonly pod?: Partial<PodView>; readonly snapshot?: Partial<Snapshot> } = {},
): AdviceMoment {
  const { pods: count = 1, pod = {}, snapshot = {} } = more;
  const pods = Array.from({ length: count }, (_, i) =>
    podView({ uid: `pod-uid-${i}`, name: `pod-${i}`, owner: owners[0] ?? null, ...pod }),
  );
  const workload = workloadView(owners, { pods: pods.map((_, i) => i), ...parts });
  return momentOf({ pods, workloads: [workload], ...snapshot });
}

/** The steps, or a failed test that says why there are none. */
export function stepsOf(found: StepsFound): readonly AdviceStep[] {
  if (!found.ok) throw new Error(`no steps: ${found.reason}`);
  return found.steps;
}

/** Why there are no steps, or a failed test. */
export function reasonOf(found: StepsFound): string {
  if (found.ok) throw new Error(`there are steps: ${found.steps.map(({ title }) => title).join("; ")}`);
  return found.reason;
}

/** What is sent, without the rest. */
export const sent = (found: StepsFound): readonly (readonly [string, string, unknown])[] =>
  stepsOf(found).map(({ request: { verb, path, body } }) => [verb, path, body] as const);

/** How an object of a queue system was read, and what a patch of it tests therefore. */
export const revision = { apiVersion: "kueue.x-k8s.io/v1beta2", uid: "uid-q", generation: 3 };
export const revisionTests = [
  { op: "test", path: "/metadata/uid", value: "uid-q" },
  { op: "test", path: "/metadata/generation", value: 3 },
];

/** A moment of one queue over the pool of node `n`. */
export function queueMoment(view: Partial<QueueView>, objects: Partial<QueueObjects>, more: Partial<Snapshot> = {}) {
  const queues = [queueView(view)];
  const queueing = { ...noQueueing, domains: [quotaDomain()], queues, queueOfPod: new Int32Array([0]) };
  return momentOf({ queueing, queueObjects: { ...noQueueObjects, ...objects }, ...more });
}

/** The body of the first request. */
export const bodyOf = (found: StepsFound): unknown => sent(found)[0]?.[2];

/** A node pool of one node with 8 GPUs that nobody manages. */
export const nodePoolView = (parts: Partial<NodePoolView>): NodePoolView => ({
  name: "h100",
  manager: "none",
  limitGpus: null,
  consolidationPolicy: null,
  consolidateAfterSeconds: null,
  minNodes: null,
  maxNodes: null,
  capacityTypes: null,
  nodes: 1,
  physicalGpus: 8,
  ...parts,
});
