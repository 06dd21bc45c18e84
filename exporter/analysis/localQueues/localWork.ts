import { domainFinder } from "../../join/queues/domainOfNode.ts";
import type { WaitingGang } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";

/** A LocalQueue by name; both parts are `null` for work whose LocalQueue is unknown. */
export interface LocalName {
  readonly namespace: string | null;
  readonly name: string | null;
}

/** Work that waits through one LocalQueue: a part of a gang. */
export interface LocalWait {
  /** Index into `LocalWork.names`. */
  readonly local: number;
  readonly gpus: number;
  /** Indices into `LocalWork.records` of where it may go; the record where it waits is first. */
  readonly places: readonly number[];
  /** Whether it has its quota already. */
  readonly isReserved: boolean;
}

/** What the LocalQueues of one ClusterQueue hold and wait for. Physical GPUs. */
export interface LocalWork {
  readonly clusterQueue: string;
  /** Indices into `Queueing.queues`: its record in each quota domain. */
  readonly records: readonly number[];
  /** LocalQueues ordered by namespace and name; the unknown one is last, and only present if it holds or waits for anything. */
  readonly names: readonly LocalName[];
  /** What each name holds, in each record. */
  readonly allocated: readonly Float64Array[];
  readonly pending: readonly Float64Array[];
  /** Eligible demand, in the order in which queues serve it. */
  readonly waits: readonly LocalWait[];
}

/** Work while it is counted, before the names are ordered. */
interface Draft {
  readonly records: readonly number[];
  readonly names: Map<string, LocalName>;
  readonly allocated: Map<string, Float64Array>;
  readonly pending: Map<string, Float64Array>;
  readonly waits: (Omit<LocalWait, "local"> & { readonly key: string })[];
}

/** What is allocated and waits through each LocalQueue, for each ClusterQueue with quota for GPUs of this cluster. */
export function localWorkOf(snapshot: Snapshot): readonly LocalWork[] {
  const drafts = draftsOf(snapshot);
  if (drafts.size === 0) return [];
  for (const { namespace, name, clusterQueue } of snapshot.queueObjects.kueueLocalQueues) {
    const draft = drafts.get(clusterQueue);
    if (draft !== undefined) keyIn(draft, { namespace, name });
  }
  countAllocated(snapshot, drafts);
  countWaiting(snapshot, drafts);
  return [...drafts].map(([clusterQueue, draft]) => finished(clusterQueue, draft, snapshot));
}

function countWaiting({ queueing }: Snapshot, drafts: ReadonlyMap<string, Draft>): void {
  for (const gang of queueing.gangs) {
    const isDemand = gang.scheduler === "kueue" && gang.never === null;
    const draft = isDemand ? drafts.get(gang.queue ?? "") : undefined;
    if (draft !== undefined) addGang(gang, draft);
  }
}

function addGang({ namespace, localQueue, parts, reservedAt }: WaitingGang, draft: Draft): void {
  const key = keyIn(draft, nameOf(namespace, localQueue));
  for (const part of parts) {
    const gpus = part.pods * (part.gpusPerPod ?? 0);
    const here = draft.records.indexOf(part.queue ?? -1);
    if (gpus <= 0 || here < 0) continue;
    add(draft.pending, key, here, gpus, draft);
    const others = (part.places ?? []).map((place) => draft.records.indexOf(place.queue));
    const places = [...new Set([here, ...others])].filter((place) => place >= 0);
    draft.waits.push({ key, gpus, places, isReserved: reservedAt !== null });
  }
}

function draftsOf({ queueing }: Snapshot): ReadonlyMap<string, Draft> {
  const records = new Map<string, number[]>();
  for (const [index, { scheduler, kind, name }] of queueing.queues.entries()) {
    if (scheduler !== "kueue" || kind !== "ClusterQueue") continue;
    const known = records.get(name);
    if (known === undefined) records.set(name, [index]);
    else known.push(index);
  }
  return new Map(
    [...records].map(([name, own]): readonly [string, Draft] => [
      name,
      { records: own, names: new Map(), allocated: new Map(), pending: new Map(), waits: [] },
    ]),
  );
}

/** Counts what is allocated by the devices' own holdings, as it is counted for ClusterQueues. */
function countAllocated({ queueing, devices, pods, workloads }: Snapshot, drafts: ReadonlyMap<string, Draft>): void {
  const domainOf = domainFinder(queueing.domains);
  for (const { pool, node, holders } of devices) {
    if (holders.length === 0) continue;
    const domain = domainOf(pool, node);
    for (const { pod: index, share } of holders) {
      const leaf = queueing.queues[queueing.queueOfPod[index] ?? -1];
      const draft = leaf?.kind === "ClusterQueue" ? drafts.get(leaf.name) : undefined;
      const pod = pods[index];
      if (draft === undefined || pod === undefined) continue;
      const record = draft.records.findIndex((one) => queueing.queues[one]?.domain === domain);
      if (record < 0) continue;
      const key = keyIn(draft, nameOf(pod.namespace, workloads[pod.workload]?.localQueue ?? null));
      add(draft.allocated, key, record, share, draft);
    }
  }
}

const unknownName: LocalName = { namespace: null, name: null };

const nameOf = (namespace: string, localQueue: string | null): LocalName =>
  localQueue === null || localQueue === "" ? unknownName : { namespace, name: localQueue };

/** The key of a name. Neither part of a name contains a slash; the unknown one comes last. */
function keyIn({ names }: Draft, local: LocalName): string {
  const key = local.name === null ? "\uffff" : `${local.namespace}/${local.name}`;
  if (!names.has(key)) names.set(key, local);
  return key;
}

function add(amounts: Draft["allocated"], key: string, record: number, gpus: number, { records }: Draft): void {
  const own = amounts.get(key) ?? new Float64Array(records.length);
  amounts.set(key, own);
  own[record] = (own[record] ?? 0) + gpus;
}

function finished(clusterQueue: string, draft: Draft, { queueing }: Snapshot): LocalWork {
  addUnreported(draft, queueing.queues);
  const keys = [...draft.names.keys()].sort();
  const localOf = new Map(keys.map((key, local) => [key, local] as const));
  const amounts = (of: Draft["allocated"]) => keys.map((key) => of.get(key) ?? new Float64Array(draft.records.length));
  return {
    clusterQueue,
    records: draft.records,
    names: keys.map((key) => draft.names.get(key) ?? unknownName),
    allocated: amounts(draft.allocated),
    pending: amounts(draft.pending),
    waits: draft.waits.map(({ key, ...wait }) => ({ ...wait, local: localOf.get(key) ?? -1 })),
  };
}

/** Adds what the ClusterQueue holds and waits for beyond what was found: it came through an unknown LocalQueue. */
function addUnreported(draft: Draft, queues: Snapshot["queueing"]["queues"]): void {
  for (const [record, index] of draft.records.entries()) {
    const [allocated, pending] = [draft.allocated, draft.pending].map((amounts) =>
      [...amounts.values()].reduce((sum, own) => sum + (own[record] ?? 0), 0),
    );
    const queue = queues[index];
    if (queue === undefined) continue;
    const unreported = { allocated: queue.allocated - (allocated ?? 0), pending: queue.pending - (pending ?? 0) };
    if (unreported.allocated > gpuTolerance)
      add(draft.allocated, keyIn(draft, unknownName), record, unreported.allocated, draft);
    if (unreported.pending <= gpuTolerance) continue;
    const key = keyIn(draft, unknownName);
    add(draft.pending, key, record, unreported.pending, draft);
    draft.waits.push({ key, gpus: unreported.pending, places: [record], isReserved: false });
  }
}
