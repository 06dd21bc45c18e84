import type { WaitingGang } from "../../join/queues/queueing.ts";
import type { PodView, Snapshot, WorkloadView } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { holdsInVain, isQuiet } from "../stateLimits.ts";
import type { PartialGang } from "./waiting.ts";

/** What is known about one gang that is partly bound. */
interface Candidate {
  readonly id: string;
  readonly bound: number;
  readonly min: number;
  readonly since: number;
  readonly hasLostMember: boolean;
  /** Members that hold or ask for GPUs. */
  readonly members: PodView[];
  readonly indexes: Set<number>;
}

/**
 * Gangs with 0 < bound < minimum for longer than 5 minutes, or since they lost a member, that hold GPUs on which nothing runs,
 * whatever their scheduler. They are found by the gangs that pods are in, and for pods without a gang by the work that waits.
 * Ordered by id.
 */
export function findPartialGangs(snapshot: Snapshot): readonly PartialGang[] {
  const candidates = [...gangsOfPods(snapshot), ...gangsOfWork(snapshot)];
  const old = candidates.filter(({ since, hasLostMember }) =>
    holdsInVain({ partialSince: since, hasLostMember }, snapshot.at),
  );
  if (old.length === 0) return [];
  const pools = allocatedByPool(snapshot, old);
  return old
    .map((candidate) => partialGang(snapshot, candidate, pools))
    .filter((gang) => gang !== null)
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

function gangsOfPods({ pods }: Snapshot): Iterable<Candidate> {
  const found = new Map<string, Candidate>();
  // There may be a hundred thousand pods but no gang.
  for (let index = 0; index < pods.length; index++) {
    const pod = pods[index];
    const gang = pod?.gang ?? null;
    if (pod === undefined || gang === null || gang.partialSince === null) continue;
    const { id, bound, min, partialSince: since, hasLostMember = false } = gang;
    const known = found.get(id) ?? { id, bound, min, since, hasLostMember, members: [], indexes: new Set<number>() };
    found.set(id, known);
    known.members.push(pod);
    known.indexes.add(index);
  }
  return found.values();
}

/** Work with bound members none of whose pods is known to be in a gang. */
function gangsOfWork({ queueing, workloads, pods, at }: Snapshot): readonly Candidate[] {
  const begun = queueing.gangs.filter(({ bound, min }) => bound > 0 && bound < min);
  if (begun.length === 0) return [];
  const byName = new Map<string, WorkloadView>();
  for (const workload of workloads) byName.set(nameOf(workload), workload);
  const candidates: Candidate[] = [];
  for (const gang of begun) {
    const indexes = byName.get(nameOf(gang))?.pods ?? [];
    const members = indexes.map((index) => pods[index]).filter((pod) => pod !== undefined);
    if (members.length === 0 || members.some((pod) => pod.gang !== null)) continue;
    const { uid: id, bound, min } = gang;
    const since = partialFrom(gang, members, at);
    candidates.push({ id, bound, min, since, hasLostMember: false, members, indexes: new Set(indexes) });
  }
  return candidates;
}

const nameOf = ({ kind, namespace, name }: WorkloadView | WaitingGang): string => `${kind} ${namespace}/${name}`;

/**
 * The time from which a gang is partial: not before its first member was bound, nor before its oldest waiting member began to
 * wait (a replacement for one that was lost); without a waiting member, not before its last one was bound.
 */
function partialFrom(gang: WaitingGang, members: readonly PodView[], at: number): number {
  const boundAt = members
    .map((pod) => (pod.status === "allocated" ? pod.boundAt : null))
    .filter((time) => time !== null);
  const waitsFrom = members.map((pod) => pod.pendingSince).filter((time) => time !== null);
  if (boundAt.length === 0) return at;
  if (waitsFrom.length === 0) return Math.max(gang.since ?? 0, ...boundAt);
  return Math.max(
    boundAt.reduce((a, b) => Math.min(a, b)),
    waitsFrom.reduce((a, b) => Math.min(a, b)),
  );
}

/** What the members of each gang hold, by pool; a gang that works holds nothing here. This is one pass over the devices. */
function allocatedByPool(
  { devices }: Snapshot,
  gangs: readonly Candidate[],
): ReadonlyMap<Candidate, Map<string, number>> {
  const gangOf = new Map<number, Candidate>();
  for (const gang of gangs) for (const index of gang.indexes) gangOf.set(index, gang);
  const allocated = new Map<Candidate, Map<string, number>>();
  const working = new Set<Candidate>();
  for (const device of devices) {
    const { holders, pool } = device;
    for (const holding of holders) {
      const { pod, share } = holding;
      const gang = gangOf.get(pod);
      if (gang === undefined) continue;
      if (!isQuiet(holding, device)) working.add(gang);
      const pools = allocated.get(gang) ?? new Map<string, number>();
      allocated.set(gang, pools);
      pools.set(pool, (pools.get(pool) ?? 0) + share);
    }
  }
  for (const gang of working) allocated.delete(gang);
  return allocated;
}

function partialGang(
  { workloads }: Snapshot,
  candidate: Candidate,
  allocatedBy: ReadonlyMap<Candidate, ReadonlyMap<string, number>>,
): PartialGang | null {
  const { id, bound, min, since, hasLostMember, members } = candidate;
  const [first] = members;
  const pools = [...(allocatedBy.get(candidate) ?? [])].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const allocatedGpus = pools.reduce((sum, [, gpus]) => sum + gpus, 0);
  const [main] = pools;
  if (first === undefined || main === undefined || allocatedGpus <= gpuTolerance) return null;
  const { namespace, team, queue } = first;
  const [pool] = main;
  const work = workloads[first.workload];
  const owner = first.gang?.controller ?? (work === undefined ? `Pod ${namespace}/${first.name}` : nameOf(work));
  const missing = missingGpus(candidate);
  return {
    id,
    owner,
    namespace,
    team,
    queue,
    pool,
    bound,
    min,
    allocatedGpus,
    missingGpus: missing,
    since,
    hasLostMember,
  };
}

/**
 * What the fewest missing members ask for: the smallest of those that wait, and for those that are not created yet as much as
 * every other member, if all are alike.
 */
function missingGpus({ bound, min, members }: Candidate): number | null {
  const missing = min - bound;
  const waiting = members.filter(({ status }) => status === "pending").map(({ gpus }) => gpus);
  const known = waiting.filter((gpus) => gpus !== null).sort((a, b) => a - b);
  if (known.length < waiting.length) return null;
  const sum = known.slice(0, missing).reduce((total, gpus) => total + gpus, 0);
  const uncreated = missing - known.length;
  if (uncreated <= 0) return sum;
  const [size, ...others] = new Set(members.map(({ gpus }) => gpus));
  return size === undefined || size === null || others.length > 0 ? null : sum + uncreated * size;
}
