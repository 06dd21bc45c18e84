import type { Steps } from "../../kernel/steps.ts";
import type { ResourceAmounts } from "../../model/node.ts";
import type { Pod } from "../../model/pod.ts";
import { needsBySelector } from "../../model/queues/nodeMatch.ts";
import type { PodView } from "../snapshot.ts";
import { type GangDraft, oldest, type PartDraft } from "./gangDraft.ts";
import type { QueueingInput } from "./queueingInput.ts";
import type { QueueRef } from "./queueSystem.ts";

const podsPerStep = 2_000;

/** Waiting pods that no object declares as a gang: by the gang that their labels name, else by their workload. */
export function* gangsOfPods(rest: readonly number[], input: QueueingInput): Steps<readonly GangDraft[]> {
  const groups = new Map<string | number, number[]>();
  for (const pod of rest) {
    const view = input.pods[pod];
    if (view === undefined) continue;
    const queue = input.queued(pod)?.queue ?? null;
    const own = view.gang === null ? view.workload : `gang ${view.gang.id}`;
    const key = queue === null ? own : `${queue.scheduler} ${queue.name} ${own}`;
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [pod]);
    else known.push(pod);
  }
  yield;
  const drafts: GangDraft[] = [];
  let done = 0;
  for (const pods of groups.values()) {
    done += pods.length;
    if (done > podsPerStep) {
      done = 0;
      yield;
    }
    const draft = gangOf(pods, input);
    if (draft !== null) drafts.push(draft);
  }
  return drafts;
}

function gangOf(pods: readonly number[], input: QueueingInput): GangDraft | null {
  const views = pods.map((i) => input.pods[i]).filter((view) => view !== undefined);
  const [first] = views;
  const workload = first === undefined ? undefined : input.workloads[first.workload];
  const head = pods[0] === undefined ? null : input.queued(pods[0]);
  if (first === undefined || workload === undefined || head === null) return null;
  const { gang } = first;
  const gated = pods.filter((i) => input.queued(i)?.pod.gated === true).length;
  const ref: QueueRef | null = head.queue;
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
    // A gate of a queue system is how it makes its pods wait; any other is somebody's brake.
    never: gated === pods.length && first.queue === null ? "paused" : null,
    reason: "",
    notReadyPods: gated,
  };
}

function boundOf(indices: readonly number[], pods: readonly PodView[]): number {
  let bound = 0;
  for (const i of indices) if (pods[i]?.status === "held") bound += 1;
  return bound;
}

/** Waiting pods by what they ask for and where they may go. */
export function partsOfPods(pods: readonly number[], input: QueueingInput): readonly PartDraft[] {
  const parts = new Map<string, { readonly pod: Pod; readonly gpus: number | null; readonly waiting: number[] }>();
  for (const index of pods) {
    const pod = input.queued(index)?.pod;
    if (pod === undefined) continue;
    const gpus = input.pods[index]?.gpus ?? null;
    const { gpu, cpuMilli, memoryBytes, nodeSelector } = pod;
    const isAlone = pods.length === 1;
    const key = isAlone ? "" : JSON.stringify([gpus, gpu.resources, cpuMilli, memoryBytes, nodeSelector]);
    const known = parts.get(key);
    if (known === undefined) parts.set(key, { pod, gpus, waiting: [index] });
    else known.waiting.push(index);
  }
  return [...parts.values()].map(
    ({ pod, gpus, waiting }): PartDraft => ({
      pods: waiting.length,
      gpusPerPod: gpus,
      needs: needsBySelector(pod.nodeSelector, requestsOf(pod)),
      pools: null,
      waiting,
    }),
  );
}

function requestsOf({ gpu, cpuMilli, memoryBytes }: Pod): ResourceAmounts {
  return { ...gpu.resources, cpu: cpuMilli / 1000, memory: memoryBytes };
}
