import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import type { PodView } from "../snapshot.ts";
import { type GangDraft, oldest, type PartDraft } from "./gangDraft.ts";
import type { ImpossibleDemand } from "./impossibleDemand.ts";
import type { QueueingInput } from "./queueingInput.ts";
import type { QueueRef } from "./queueSystem.ts";

/** Waiting pods that no object declares as a gang: by the gang in their labels, or else by their workload. */
export function gangsOfPods(rest: readonly number[], input: QueueingInput): readonly GangDraft[] {
  const groups = new Map<string | number, number[]>();
  for (const pod of rest) {
    const view = input.pods[pod];
    if (view === undefined) continue;
    const queue = input.queueRefs[pod] ?? null;
    const own = view.gang === null ? view.workload : `gang ${view.gang.id}`;
    const key = queue === null ? own : `${queue.scheduler} ${queue.name} ${own}`;
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [pod]);
    else known.push(pod);
  }
  const drafts: GangDraft[] = [];
  for (const pods of groups.values()) {
    for (const part of byDemand(pods, input.pods)) {
      const draft = gangOf(part.pods, part.impossible, input);
      if (draft !== null) drafts.push(draft);
    }
  }
  return drafts;
}

/** Waiting pods of one gang or workload: those that are demand, or those that are not. */
interface PodsByDemand {
  readonly pods: readonly number[];
  readonly impossible: ImpossibleDemand | null;
}

/**
 * Pods that can never run, apart from those of the same work that may: anybody can give pods one owner. They stay together if
 * those that may run are too few for their gang.
 */
function byDemand(pods: readonly number[], views: readonly PodView[]): readonly PodsByDemand[] {
  const impossible = pods.filter((i) => views[i]?.impossible !== undefined);
  const [first] = impossible;
  const why = views[first ?? -1]?.impossible;
  if (first === undefined || why === undefined) return [{ pods, impossible: null }];
  const { gang = null } = views[first] ?? {};
  const possible = pods.filter((i) => views[i]?.impossible === undefined);
  const isWhole = gang === null || gang.bound + possible.length >= gang.min;
  if (possible.length === 0 || !isWhole) return [{ pods, impossible: why }];
  return [
    { pods: possible, impossible: null },
    { pods: impossible, impossible: why },
  ];
}

function gangOf(pods: readonly number[], impossible: ImpossibleDemand | null, input: QueueingInput): GangDraft | null {
  const views = pods.map((i) => input.pods[i]).filter((view) => view !== undefined);
  const [first] = views;
  const workload = first === undefined ? undefined : input.workloads[first.workload];
  const head = pods[0] === undefined ? null : input.queued(pods[0]);
  if (first === undefined || workload === undefined || head === null) return null;
  const { gang } = first;
  const gated = pods.filter((i) => input.queued(i)?.pod.gated === true).length;
  const ref: QueueRef | null = input.queueRefs[pods[0] ?? -1] ?? null;
  return {
    scheduler: ref?.scheduler ?? "none",
    kind: workload.kind,
    namespace: workload.namespace,
    name: workload.name,
    uid: gang?.id ?? workload.ownerUids.at(-1) ?? head.pod.uid,
    team: first.team,
    ref,
    labelledQueue: first.queue,
    priorityClass: first.priorityClass,
    priority: first.priority,
    since: oldest(views.map(({ pendingSince, createdAt }) => pendingSince ?? createdAt)),
    reservedAt: null,
    bound: gang?.bound ?? boundOf(workload.pods, input.pods),
    min: gang?.min ?? 1,
    parts: partsOfPods(pods, input),
    // A queue system's own gate is how it makes its pods wait; any other gate holds them back on purpose.
    never: gated === pods.length && first.queue === null ? "paused" : (impossible?.never ?? null),
    reason: impossible?.reason ?? "",
    notReadyPods: gated,
    ...(impossible === null ? {} : { isOutOfLine: true }),
  };
}

function boundOf(indices: readonly number[], pods: readonly PodView[]): number {
  let bound = 0;
  for (const i of indices) if (pods[i]?.status === "allocated") bound += 1;
  return bound;
}

/** Waiting pods by what they ask for and where they may go. */
export function partsOfPods(pods: readonly number[], input: QueueingInput): readonly PartDraft[] {
  // Pods with the same requests share one object for them, even if their fractions differ in size.
  const parts = new Map<PodNeeds, Map<number | null, number[]>>();
  for (const index of pods) {
    const view = input.pods[index];
    if (view === undefined || view.needs === null) continue;
    const { needs, gpus } = view;
    const byGpus = parts.get(needs) ?? new Map<number | null, number[]>();
    if (byGpus.size === 0) parts.set(needs, byGpus);
    const waiting = byGpus.get(gpus);
    if (waiting === undefined) byGpus.set(gpus, [index]);
    else waiting.push(index);
  }
  const drafts: PartDraft[] = [];
  for (const [needs, byGpus] of parts) {
    for (const [gpusPerPod, waiting] of byGpus) {
      drafts.push({ pods: waiting.length, gpusPerPod, needs, scopes: null, waiting });
    }
  }
  return drafts;
}
