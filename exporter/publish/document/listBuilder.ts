import type { Analysis } from "../../analysis/analysis.ts";
import { inSlices } from "../../kernel/inSlices.ts";
import type { Steps } from "../../kernel/steps.ts";
import { addUpBookings, type Booked } from "./booked.ts";
import type { DocumentLists } from "./buildDocument.ts";
import { pendingRecords } from "./pending.ts";
import { domainRecords, queueRecords } from "./queueRecords.ts";
import { deviceRecords, nodeRecords, poolRecords, teamRecords, workloadRecords } from "./records.ts";
import { evictionRecords, findingRecords } from "./waitingRecords.ts";

/** The lists of one moment. Each is built when it is first asked for; who asks meanwhile waits for the same one. */
export type ListBuilder = { readonly [Name in keyof DocumentLists]: () => Promise<DocumentLists[Name]> };

/** Builds the lists of a moment one by one, as they are asked for. */
export function createListBuilder(analysis: Analysis): ListBuilder {
  const { snapshot } = analysis;
  const booked = once(() => inSlices(addUpBookings(analysis)));
  const withBooked =
    <List>(build: (found: Booked) => Steps<List>) =>
    async () =>
      inSlices(build(await booked()));
  return {
    pools: once(() => inSlices(poolRecords(analysis))),
    domains: once(async () => domainRecords(analysis)),
    queues: once(() => inSlices(queueRecords(analysis))),
    teams: once(() => inSlices(teamRecords(analysis))),
    nodes: once(withBooked((found) => nodeRecords(snapshot, found))),
    devices: once(withBooked((found) => deviceRecords(snapshot, found))),
    workloads: once(withBooked((found) => workloadRecords(snapshot, found))),
    pending: once(() => inSlices(pendingRecords(analysis))),
    evictions: once(() => inSlices(evictionRecords(analysis))),
    findings: once(() => inSlices(findingRecords(analysis))),
  };
}

/** All lists, one after the other: two at a time would take turns that are twice as long. */
export async function everyList(builder: ListBuilder): Promise<DocumentLists> {
  return {
    pools: await builder.pools(),
    domains: await builder.domains(),
    teams: await builder.teams(),
    queues: await builder.queues(),
    nodes: await builder.nodes(),
    devices: await builder.devices(),
    workloads: await builder.workloads(),
    pending: await builder.pending(),
    evictions: await builder.evictions(),
    findings: await builder.findings(),
  };
}

function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | null = null;
  return () => {
    result ??= work();
    return result;
  };
}
