import type { Analysis } from "../../analysis/analysis.ts";
import { findLocalQueues } from "../../analysis/localQueues/findLocalQueues.ts";
import { type Accounted, addUpAccountingEntries } from "./accounted.ts";
import type { DocumentLists } from "./buildDocument.ts";
import { localQueueRecords } from "./localQueueRecords.ts";
import { nodePoolRecords } from "./nodePoolRecords.ts";
import { pendingRecords } from "./pending.ts";
import { blockedRecords } from "./placementRecords.ts";
import { priceRecords } from "./priceRecords.ts";
import { domainRecords, queueRecords } from "./queueRecords.ts";
import { deviceRecords, nodeRecords, poolRecords, teamRecords, workloadRecords } from "./records.ts";
import { evictionRecords, findingRecords } from "./waitingRecords.ts";

/** The lists of one moment, each of which is built when it is first asked for. */
export type ListBuilder = { readonly [Name in keyof DocumentLists]: () => DocumentLists[Name] };

/** Builds the lists of a moment one by one, as they are asked for. */
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
    teams: once(withAccounted((found) => teamRecords(analysis, found))),
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

function once<Result>(work: () => Result): () => Result {
  let result: { readonly found: Result } | null = null;
  return () => {
    result ??= { found: work() };
    return result.found;
  };
}
