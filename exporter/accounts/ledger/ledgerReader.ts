import type { Worker } from "node:worker_threads";
import type { AccountsQuery, AccountsResult } from "./accountsQuery.ts";
import type { JobsQuery, JobsResult } from "./jobsQuery.ts";
import {
  type LedgerFailure,
  type LedgerQuestion,
  type LedgerResult,
  type LedgerTopic,
  type LedgerTopics,
  ledgerFailure,
} from "./ledgerQuestion.ts";
import type { LedgerTableQuery, LedgerTableResult } from "./ledgerTableQuery.ts";
import { endGently, startThread } from "./ledgerThread.ts";
import type { PriceQuery, PriceResult } from "./priceQuery.ts";
import type { AdviceQuery, AdviceResult } from "./queryAdvice.ts";
import type { PoolsQuery, PoolsResult } from "./queryPools.ts";
import type { StartsQuery, StartsResult } from "./queryStarts.ts";
import type { WithheldQuery, WithheldResult } from "./withheld.ts";

/** Answers questions about a ledger, outside the thread that asks. */
export interface LedgerReader {
  /** Answers a question about GPU time. Questions are answered one after the other. None of these methods throws. */
  query(query: AccountsQuery): Promise<AccountsResult>;
  /** Answers a question about a ledger table (`ledgerTables`). */
  queryLedgerTable(query: LedgerTableQuery): Promise<LedgerTableResult>;
  /** Answers a question about the prices that were used. */
  queryPrices(query: PriceQuery): Promise<PriceResult>;
  /** Answers a question about the pools of quota domains, and the GPU models of pools. */
  queryPools(query: PoolsQuery): Promise<PoolsResult>;
  /** Answers a question about the starts of waiting work. */
  queryStarts(query: StartsQuery): Promise<StartsResult>;
  /** Answers a question about single recommendations. */
  queryAdvice(query: AdviceQuery): Promise<AdviceResult>;
  /** Answers a question about plans that were not advised, and the reasons. */
  queryWithheld(query: WithheldQuery): Promise<WithheldResult>;
  /** Answers a question about the workloads that cost and wasted most. */
  queryJobs(query: JobsQuery): Promise<JobsResult>;
  close(): Promise<void>;
}

/** The most questions that may wait, so that they do not pile up behind a slow one. */
const maxWaiting = 8;
const defaultPatienceMilliseconds = 60_000;
const idleMilliseconds = 60_000;
/** How long closing waits for a running answer that nobody needs any more. */
const closeMilliseconds = 1000;

interface Asked {
  /** Sends the question to a thread, whose next message is the answer. */
  readonly send: (worker: Worker) => void;
  readonly fail: (failure: LedgerFailure) => void;
}

/**
 * Creates a reader of the ledger in this file. Its thread starts with the first question and ends when no question has come for
 * a while.
 */
export function createLedgerReader(file: string, patienceMilliseconds = defaultPatienceMilliseconds): LedgerReader {
  const waiting: Asked[] = [];
  let worker: Worker | null = null;
  let timer: NodeJS.Timeout | null = null;

  function startQueryThread(): Worker {
    const started = startThread("queryThread", file);
    started.unref();
    started.on("error", (error: unknown) => endThread(started, error instanceof Error ? error.message : String(error)));
    started.on("exit", () => endThread(started, "its thread ended"));
    return started;
  }

  /** Ends a thread that failed. The question that was being answered fails; the others are asked again in a new thread. */
  function endThread(which: Worker, reason: string): void {
    if (worker !== which) return;
    worker = null;
    void which.terminate();
    waiting
      .shift()
      ?.fail(ledgerFailure(`the ledger did not answer: ${reason}`, "Ask for less at once, or again later."));
    if (waiting.length > 0) next();
  }

  function next(): void {
    if (timer !== null) clearTimeout(timer);
    const first = waiting[0];
    if (first === undefined) {
      timer = setTimeout(() => {
        const idle = worker;
        worker = null;
        idle?.postMessage(null);
      }, idleMilliseconds).unref();
      return;
    }
    worker ??= startQueryThread();
    const asked = worker;
    first.send(asked);
    const seconds = patienceMilliseconds / 1000;
    timer = setTimeout(() => endThread(asked, `no answer within ${seconds} s`), patienceMilliseconds).unref();
  }

  function ask<Topic extends LedgerTopic>(
    about: Topic,
    query: LedgerTopics[Topic]["query"],
  ): Promise<LedgerResult<LedgerTopics[Topic]["answer"]>> {
    return new Promise((resolve) => {
      if (waiting.length >= maxWaiting) {
        resolve(ledgerFailure("too many questions are waiting for the ledger", "Ask again in a minute."));
        return;
      }
      const question: LedgerQuestion<Topic> = { about, query };
      const send = (asked: Worker): void => {
        asked.postMessage(question);
        asked.once("message", (result: LedgerResult<LedgerTopics[Topic]["answer"]>) => {
          if (worker !== asked) return;
          waiting.shift();
          resolve(result);
          next();
        });
      };
      waiting.push({ send, fail: resolve });
      if (waiting.length === 1) next();
    });
  }

  return {
    query: (query) => ask("gpu-time", query),
    queryLedgerTable: (query) => ask("ledger-table", query),
    queryPrices: (query) => ask("prices", query),
    queryPools: (query) => ask("pools", query),
    queryStarts: (query) => ask("starts", query),
    queryAdvice: (query) => ask("advice", query),
    queryWithheld: (query) => ask("withheld", query),
    queryJobs: (query) => ask("jobs", query),
    async close() {
      if (timer !== null) clearTimeout(timer);
      const ending = worker;
      worker = null;
      for (const { fail } of waiting.splice(0)) fail(ledgerFailure("the ledger is closed", "Start Fairlead again."));
      if (ending === null) return;
      ending.postMessage(null);
      await endGently(ending, closeMilliseconds);
    },
  };
}
