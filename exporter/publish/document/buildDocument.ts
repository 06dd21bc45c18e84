import type { Analysis } from "../../analysis/analysis.ts";
import type { Problem } from "../../model/problem.ts";
import { type Advice, noAdvice } from "../../model/recommendation.ts";
import { costRecord } from "./costRecords.ts";
import { createListBuilder } from "./listBuilder.ts";
import { momentOf } from "./order.ts";
import { recommendationRecords, withheldRecords } from "./recommendationRecords.ts";
import type { FairleadDocument } from "./schema.ts";
import { dispatchedRecords, partialGangRecords } from "./waitingRecords.ts";

/** The lists of a document that take long to build for a real fleet. */
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
  const lists = createListBuilder(analysis);
  const { snapshot } = analysis;
  return {
    schemaVersion: 1,
    at: momentOf(snapshot.at),
    cluster: snapshot.cluster,
    cost: costRecord(analysis),
    pools: lists.pools(),
    domains: lists.domains(),
    teams: lists.teams(),
    queues: lists.queues(),
    localQueues: lists.localQueues(),
    nodes: lists.nodes(),
    nodePools: lists.nodePools(),
    devices: lists.devices(),
    workloads: lists.workloads(),
    pending: lists.pending(),
    blocked: lists.blocked(),
    dispatched: dispatchedRecords(analysis),
    evictions: lists.evictions(),
    partialGangs: partialGangRecords(analysis),
    deadlocks: analysis.waiting.deadlocks,
    findings: lists.findings(),
    prices: lists.prices(),
    recommendations: recommendationRecords(advice),
    withheld: withheldRecords(advice),
    coverage: {
      objects: snapshot.coverage.objects,
      telemetry: snapshot.coverage.telemetry,
      signal: snapshot.signal,
      uncountedNodes: [...snapshot.coverage.uncountedNodes].sort(),
    },
    dropped: snapshot.dropped,
    problems: problemRecords(problems),
  };
}

/** The records of problems; the fields of each are in the same order. */
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
