import type { Analysis } from "../../analysis/analysis.ts";
import { findLocalQueuesInSteps } from "../../analysis/localQueues/findLocalQueues.ts";
import { inSlices } from "../../kernel/inSlices.ts";
import type { Steps } from "../../kernel/steps.ts";
import { addUpBookings, type Booked } from "./booked.ts";
import type { DocumentLists } from "./buildDocument.ts";
import { localQueueRecords } from "./localQueueRecords.ts";
import { nodePoolRecords } from "./nodePoolRecords.ts";
import { pendingRecords } from "./pending.ts";
import { blockedRecords } from "./placementRecords.ts";
import { priceRecords } from "./priceRecords.ts";
import { domainRecords, queueRecords } from "./queueRecords.ts";
import { deviceRecords, nodeRecords, poolRecords, teamRecords, workloadRecords } from "./records.ts";
import { evictionRecords, findingRecords } from "./waitingRecords.ts";

/** The lists of one moment. Each is built when it is first asked for; who asks meanwhile waits for the same one. */
export type ListBuilder = { readonly [Name in keyof DocumentLists]: () => Promise<DocumentLists[Name]> };

/** Builds the lists of a moment one by one, as they are asked for. */
export function createListBuilder(analysis: Analysis): ListBuilder {
  const { snapshot } = analysis;
  const booked = once(() => inSlices(addUpBookings(analysis)));
  const local = once(() => inSlices(findLocalQueuesInSteps(snapshot, analysis.fairness)));
  const withBooked =
    <List>(build: (found: Booked) => Steps<List>) =>
    async () =>
      inSlices(build(await booked()));
  return {
    pools: once(() => inSlices(poolRecords(analysis))),
    domains: once(async () => domainRecords(analysis)),
    queues: once(() => inSlices(queueRecords(analysis))),
    localQueues: once(async () => inSlices(localQueueRecords(snapshot.queueing, await local()))),
    teams: once(withBooked((found) => teamRecords(analysis, found))),
    nodes: once(withBooked((found) => nodeRecords(analysis, found))),
    nodePools: once(async () => nodePoolRecords(analysis)),
    devices: once(withBooked((found) => deviceRecords(snapshot, found))),
    workloads: once(withBooked((found) => workloadRecords(analysis, found))),
    pending: once(async () => inSlices(pendingRecords(analysis, await local()))),
    blocked: once(() => inSlices(blockedRecords(analysis))),
    evictions: once(() => inSlices(evictionRecords(analysis))),
    findings: once(() => inSlices(findingRecords(analysis))),
    prices: once(async () => priceRecords(analysis)),
  };
}

/** All lists, one after the other: two at a time would take turns that are twice as long. */
export async function everyList(builder: ListBuilder): Promise<DocumentLists> {
  return {
    pools: await builder.pools(),
    domains: await builder.domains(),
    teams: await builder.teams(),
    queues: await builder.queues(),
    localQueues: await builder.localQueues(),
    nodes: await builder.nodes(),
    nodePools: await builder.nodePools(),
    devices: await builder.devices(),
    workloads: await builder.workloads(),
    pending: await builder.pending(),
    blocked: await builder.blocked(),
    evictions: await builder.evictions(),
    findings: await builder.findings(),
    prices: await builder.prices(),
  };
}

function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | null = null;
  return () => {
    result ??= work();
    return result;
  };
}
