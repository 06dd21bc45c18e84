import type { Analysis } from "../../analysis/analysis.ts";
import { findLocalQueues } from "../../analysis/localQueues/findLocalQueues.ts";
import type { LinePosition, LocalQueues } from "../../analysis/localQueues/localQueues.ts";
import type { WaitingWork } from "../../analysis/waiting/waiting.ts";
import type { QuotaDomain, WaitingGang } from "../../join/queues/queueing.ts";
import type { DocumentLists } from "./buildDocument.ts";
import { instant, sortByTexts } from "./order.ts";
import { blockedRecords } from "./placementRecords.ts";
import { priceRecords } from "./priceRecords.ts";
import { domainRecords, localQueueRecords, queueRecords } from "./queueRecords.ts";
import {
  type Accounted,
  addUpAccountingEntries,
  deviceRecords,
  nodeRecords,
  poolRecords,
  teamRecords,
  workloadRecords,
} from "./records.ts";
import type { NodePoolRecord, PendingRecord } from "./schema.ts";
import { evictionRecords, findingRecords } from "./waitingRecords.ts";

/** The lists of one moment; each is built when it is first asked for. */
export type ListBuilder = { readonly [Name in keyof DocumentLists]: () => DocumentLists[Name] };

const made = new WeakMap<Analysis, ListBuilder>();

/** The lists of a moment, built one by one as they are asked for, and once for all who ask. */
export function listsOf(analysis: Analysis): ListBuilder {
  const lists = made.get(analysis) ?? createListBuilder(analysis);
  made.set(analysis, lists);
  return lists;
}

/** Builds the lists of a moment; keeping the builder keeps the records in memory. */
export function createListBuilder(analysis: Analysis): ListBuilder {
  const { snapshot } = analysis;
  const accounted = once(() => addUpAccountingEntries(analysis));
  const local = once(() => findLocalQueues(snapshot, analysis.fairness));
  const withAccounted =
    <List>(build: (found: Accounted) => List) =>
    () =>
      build(accounted());
  return {
    pools: once(() => poolRecords(analysis)),
    domains: once(() => domainRecords(analysis)),
    queues: once(() => queueRecords(analysis)),
    localQueues: once(() => localQueueRecords(snapshot.queueing, local())),
    teams: once(() => teamRecords(analysis)),
    nodes: once(withAccounted((found) => nodeRecords(analysis, found))),
    nodePools: once(() => nodePoolRecords(analysis)),
    devices: once(withAccounted((found) => deviceRecords(snapshot, found))),
    workloads: once(withAccounted((found) => workloadRecords(analysis, found))),
    pending: once(() => pendingRecords(analysis, local())),
    blocked: once(() => blockedRecords(analysis)),
    evictions: once(() => evictionRecords(analysis)),
    findings: once(() => findingRecords(analysis)),
    prices: once(() => priceRecords(analysis)),
  };
}

/** One record for each gang that waits, with its cause and its place in line. */
function pendingRecords(
  { snapshot, waiting }: Analysis,
  { positions }: Pick<LocalQueues, "positions">,
): readonly PendingRecord[] {
  const { gangs, domains } = snapshot.queueing;
  const work = new Map(waiting.work.map((one) => [one.gang, one] as const));
  const records = gangs.map((gang, index) =>
    gangRecord(gang, { work: work.get(index), position: positions.get(index), domains, at: snapshot.at }),
  );
  return sortByTexts(records, (record) => [record.since ?? "", record.namespace, record.kind, record.name]);
}

interface GangContext {
  readonly work: WaitingWork | undefined;
  readonly position: LinePosition | undefined;
  readonly domains: readonly QuotaDomain[];
  readonly at: number;
}

function gangRecord(gang: WaitingGang, { work, position, domains, at }: GangContext): PendingRecord {
  const names = new Set(gang.parts.flatMap(({ domain }) => (domain === null ? [] : (domains[domain]?.name ?? []))));
  return {
    namespace: gang.namespace,
    kind: gang.kind,
    name: gang.name,
    team: gang.team,
    queue: gang.queue,
    localQueue: gang.localQueue,
    position: position?.inClusterQueue ?? null,
    positionInLocalQueue: position?.inLocalQueue ?? null,
    priorityClass: gang.priorityClass,
    domains: [...names].sort(),
    gpus: gang.gpus,
    pods: gang.pods,
    mostGpus: gang.most?.gpus ?? null,
    mostPods: gang.most?.pods ?? null,
    growth: gang.growth ?? null,
    bound: gang.bound,
    min: gang.min,
    since: instant(gang.since),
    ageSeconds: work?.ageSeconds ?? (gang.since === null ? null : Math.max(0, at - gang.since)),
    reservedAt: instant(gang.reservedAt),
    cause: work?.cause ?? "unknown",
    blockingLevel: work?.blockingLevel ?? null,
    late: work?.isLate ?? null,
    reason: gang.reason,
    admissionChecks: gang.checks ?? [],
    awaitsNodes: gang.awaitsNodes ?? false,
    isCopy: gang.isCopy ?? false,
    never: gang.never,
  };
}

/** The node pools of a moment, by name. */
function nodePoolRecords({ snapshot, idleNodes }: Analysis): readonly NodePoolRecord[] {
  const nameOf = (node: number): string => snapshot.nodes[node]?.nodePool || "unknown";
  const counted = (nodes: Iterable<number>): ReadonlyMap<string, number> => {
    const counts = new Map<string, number>();
    for (const node of nodes) counts.set(nameOf(node), (counts.get(nameOf(node)) ?? 0) + 1);
    return counts;
  };
  const idle = idleNodes.nodes.filter(({ isWarmPool }) => !isWarmPool);
  const unallocated = counted(idle.flatMap(({ node, kind }) => (kind === "unallocated" ? [node] : [])));
  const allocated = counted(idle.flatMap(({ node, kind }) => (kind === "allocated" ? [node] : [])));
  const warm = counted(idleNodes.warm);
  return snapshot.nodePools.map((pool) => ({
    nodePool: pool.name,
    manager: pool.manager,
    capacityTypes: pool.capacityTypes,
    nodes: pool.nodes,
    physicalGpus: pool.physicalGpus,
    limitGpus: pool.limitGpus,
    minNodes: pool.minNodes,
    maxNodes: pool.maxNodes,
    consolidationPolicy: pool.consolidationPolicy,
    consolidateAfterSeconds: pool.consolidateAfterSeconds,
    idleUnallocated: unallocated.get(pool.name) ?? 0,
    idleAllocated: allocated.get(pool.name) ?? 0,
    warm: warm.get(pool.name) ?? 0,
  }));
}

function once<Result>(work: () => Result): () => Result {
  let result: { readonly found: Result } | null = null;
  return () => {
    result ??= { found: work() };
    return result.found;
  };
}
