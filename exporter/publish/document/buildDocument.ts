import type { Analysis } from "../../analysis/analysis.ts";
import { findLocalQueuesInSteps } from "../../analysis/localQueues/findLocalQueues.ts";
import { inOneStep, type Steps } from "../../kernel/steps.ts";
import type { Problem } from "../../model/problem.ts";
import { type Advice, noAdvice } from "../../model/recommendation.ts";
import { addUpBookings } from "./booked.ts";
import { costRecord } from "./costRecords.ts";
import { localQueueRecords } from "./localQueueRecords.ts";
import { nodePoolRecords } from "./nodePoolRecords.ts";
import { momentOf } from "./order.ts";
import { pendingRecords } from "./pending.ts";
import { blockedRecords } from "./placementRecords.ts";
import { priceRecords } from "./priceRecords.ts";
import { domainRecords, queueRecords } from "./queueRecords.ts";
import { recommendationRecords, withheldRecords } from "./recommendationRecords.ts";
import { deviceRecords, nodeRecords, poolRecords, teamRecords, workloadRecords } from "./records.ts";
import type { FairleadDocument } from "./schema.ts";
import {
  deadlockRecords,
  dispatchedRecords,
  evictionRecords,
  findingRecords,
  partialGangRecords,
} from "./waitingRecords.ts";

/** The lists of a document that take long at the size of a real fleet. */
export type DocumentLists = {
  readonly [Name in
    | "pools"
    | "domains"
    | "teams"
    | "queues"
    | "localQueues"
    | "nodes"
    | "nodePools"
    | "devices"
    | "workloads"
    | "pending"
    | "blocked"
    | "evictions"
    | "findings"
    | "prices"]: readonly FairleadDocument[Name][number][];
};

/**
 * The answers of one moment as one document: what `inspect --output json` prints and the API serves. Records are
 * sorted, so that the same input gives the same text. Unknown is `null`. `problems` are those of the snapshot, unless
 * the caller knows of more.
 */
export function buildDocument(
  analysis: Analysis,
  problems: readonly Problem[] = analysis.snapshot.problems,
  advice: Advice = noAdvice,
): FairleadDocument {
  return documentOf(analysis, inOneStep(allLists(analysis)), problems, advice);
}

function* allLists(analysis: Analysis): Steps<DocumentLists> {
  const { snapshot } = analysis;
  const booked = yield* addUpBookings(analysis);
  const local = yield* findLocalQueuesInSteps(snapshot, analysis.fairness);
  return {
    pools: yield* poolRecords(analysis),
    domains: domainRecords(analysis),
    queues: yield* queueRecords(analysis),
    localQueues: yield* localQueueRecords(snapshot.queueing, local),
    teams: yield* teamRecords(analysis, booked),
    nodes: yield* nodeRecords(analysis, booked),
    nodePools: nodePoolRecords(analysis),
    devices: yield* deviceRecords(snapshot, booked),
    workloads: yield* workloadRecords(analysis, booked),
    pending: yield* pendingRecords(analysis, local),
    blocked: yield* blockedRecords(analysis),
    evictions: yield* evictionRecords(analysis),
    findings: yield* findingRecords(analysis),
    prices: priceRecords(analysis),
  };
}

/** A document of these lists. */
export function documentOf(
  analysis: Analysis,
  lists: DocumentLists,
  problems: readonly Problem[],
  advice: Advice,
): FairleadDocument {
  const { snapshot } = analysis;
  return {
    schemaVersion: 1,
    at: momentOf(snapshot.at),
    cluster: snapshot.cluster,
    cost: costRecord(analysis),
    pools: [...lists.pools],
    domains: [...lists.domains],
    teams: [...lists.teams],
    queues: [...lists.queues],
    localQueues: [...lists.localQueues],
    nodes: [...lists.nodes],
    nodePools: [...lists.nodePools],
    devices: [...lists.devices],
    workloads: [...lists.workloads],
    pending: [...lists.pending],
    blocked: [...lists.blocked],
    dispatched: dispatchedRecords(analysis),
    evictions: [...lists.evictions],
    partialGangs: partialGangRecords(analysis),
    deadlocks: deadlockRecords(analysis),
    findings: [...lists.findings],
    prices: [...lists.prices],
    recommendations: recommendationRecords(advice),
    withheld: withheldRecords(advice),
    coverage: {
      objects: snapshot.coverage.objects,
      telemetry: snapshot.coverage.telemetry,
      signal: snapshot.signal,
      uncountedNodes: [...snapshot.coverage.uncountedNodes].sort(),
    },
    dropped: { ...snapshot.dropped },
    problems: problemRecords(problems),
  };
}

/** Problems as the document has them. */
export function problemRecords(problems: readonly Problem[]): FairleadDocument["problems"] {
  return problems.map(({ source, code, severity, subject, message, nextStep }) => ({
    source,
    code,
    severity,
    subject,
    message,
    nextStep,
  }));
}
