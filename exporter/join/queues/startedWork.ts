import { noPriorityClass } from "../podViews.ts";
import type { WorkloadView } from "../snapshot.ts";
import { oldest } from "./gangDraft.ts";
import type { GangMembers } from "./gangMembers.ts";
import type { StartedWork } from "./queueing.ts";
import type { QueueingInput } from "./queueingInput.ts";

/** How long work counts as begun, seconds: longer than any pause between two cycles. */
export const recentSeconds = 15 * 60;

/** The work that began to run within the last minutes, by uid. `begun`: the declared gangs that have a bound pod. */
export function startedWork(
  begun: readonly GangMembers[],
  input: QueueingInput,
  leafOfPod: Int32Array,
): readonly StartedWork[] {
  const started = [...startedGangs(begun, input, leafOfPod), ...startedWorkloads(begun, input, leafOfPod)];
  return started.sort((a, b) => (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : a.startedAt - b.startedAt));
}

/**
 * Gangs that began to run within the last minutes: as their object reports it, or else when the last member that they need was
 * bound.
 */
function startedGangs(
  begun: readonly GangMembers[],
  input: QueueingInput,
  leafOfPod: Int32Array,
): readonly StartedWork[] {
  const started: StartedWork[] = [];
  for (const { gang, bound } of begun) {
    const first = bound[0];
    if (first === undefined || gang.since === null || gang.isStarting === true) continue;
    // The object's own report comes first: the minimum may include members without GPUs, which are not among the pods.
    const startedAt = gang.startedAt ?? boundAt(bound, gang.min, input);
    if (startedAt === null || !isRecent(startedAt, input.at)) continue;
    started.push({
      uid: gang.uid,
      queue: leafOf(first, leafOfPod),
      priorityClass: gang.priorityClass ?? input.pods[first]?.priorityClass ?? noPriorityClass,
      ...(gang.priority === 0 ? {} : { priority: gang.priority }),
      since: gang.since,
      reservedAt: gang.reservedAt,
      startedAt,
      gpus: gpusOf(bound, input),
    });
  }
  return started;
}

/**
 * Workloads (and gangs by label) without an object of a queue system that began to run within the last minutes: from the
 * creation of their first pod until the last pod that they need was bound.
 */
function startedWorkloads(
  begun: readonly GangMembers[],
  input: QueueingInput,
  leafOfPod: Int32Array,
): readonly StartedWork[] {
  const recentPods = input.tally.recent.filter((pod) => isRecent(input.pods[pod]?.boundAt ?? 0, input.at));
  if (recentPods.length === 0) return [];
  const declared = new Set<number>();
  for (const { bound } of begun) for (const pod of bound) declared.add(pod);
  const recent = new Set<number>();
  for (const pod of recentPods) {
    const workload = input.pods[pod]?.workload;
    if (workload !== undefined && !declared.has(pod)) recent.add(workload);
  }
  const started: StartedWork[] = [];
  for (const index of recent) {
    const workload = input.workloads[index];
    if (workload === undefined) continue;
    const own = workload.pods.filter((pod) => input.pods[pod]?.status === "allocated" && !declared.has(pod));
    for (const pods of Map.groupBy(own, (pod) => input.pods[pod]?.gang?.id).values())
      started.push(...startOf(pods, workload, input, leafOfPod));
  }
  return started;
}

function startOf(
  pods: readonly number[],
  { ownerUids, priorityClass, priority }: WorkloadView,
  input: QueueingInput,
  leafOfPod: Int32Array,
): readonly StartedWork[] {
  const [first] = pods;
  const view = first === undefined ? undefined : input.pods[first];
  if (first === undefined || view === undefined) return [];
  const startedAt = boundAt(pods, view.gang?.min ?? 1, input);
  const since = oldest(pods.map((pod) => input.pods[pod]?.createdAt ?? null));
  const uid = view.gang?.id ?? ownerUids.at(-1) ?? view.uid;
  if (startedAt === null || since === null || uid === null || !isRecent(startedAt, input.at)) return [];
  return [
    {
      uid,
      queue: leafOf(first, leafOfPod),
      priorityClass,
      ...(priority === 0 ? {} : { priority }),
      since,
      reservedAt: null,
      startedAt,
      gpus: gpusOf(pods, input),
    },
  ];
}

const isRecent = (time: number, at: number): boolean => time > at - recentSeconds && time <= at;

/** When the last of the first `min` members was bound; `null` while there are fewer, or if that is not known. */
function boundAt(pods: readonly number[], min: number, { pods: views }: QueueingInput): number | null {
  const times = pods.map((pod) => views[pod]?.boundAt ?? null).filter((time) => time !== null);
  return times.sort((a, b) => a - b)[Math.max(1, min) - 1] ?? null;
}

function gpusOf(pods: readonly number[], { pods: views }: QueueingInput): number | null {
  return pods.reduce<number | null>((sum, pod) => {
    const gpus = views[pod]?.gpus ?? null;
    return sum === null || gpus === null ? null : sum + gpus;
  }, 0);
}

function leafOf(pod: number, leafOfPod: Int32Array): number | null {
  const leaf = leafOfPod[pod] ?? -1;
  return leaf < 0 ? null : leaf;
}
