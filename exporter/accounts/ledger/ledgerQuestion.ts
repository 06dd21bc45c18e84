import type { AccountsAnswer, AccountsQuery } from "./accountsQuery.ts";
import type { JobsAnswer, JobsQuery } from "./jobsQuery.ts";
import type { LedgerTableAnswer, LedgerTableQuery } from "./ledgerTableQuery.ts";
import type { PriceAnswer, PriceQuery } from "./priceQuery.ts";
import type { AdviceAnswer, AdviceQuery } from "./queryAdvice.ts";
import type { PoolsAnswer, PoolsQuery } from "./queryPools.ts";
import type { StartsAnswer, StartsQuery } from "./queryStarts.ts";
import type { WithheldAnswer, WithheldQuery } from "./withheld.ts";

/** The topics that the reader's thread can be asked about, each with its question and its answer. */
export interface LedgerTopics {
  readonly "gpu-time": { readonly query: AccountsQuery; readonly answer: AccountsAnswer };
  readonly "ledger-table": { readonly query: LedgerTableQuery; readonly answer: LedgerTableAnswer };
  readonly prices: { readonly query: PriceQuery; readonly answer: PriceAnswer };
  readonly pools: { readonly query: PoolsQuery; readonly answer: PoolsAnswer };
  readonly starts: { readonly query: StartsQuery; readonly answer: StartsAnswer };
  readonly advice: { readonly query: AdviceQuery; readonly answer: AdviceAnswer };
  readonly withheld: { readonly query: WithheldQuery; readonly answer: WithheldAnswer };
  readonly jobs: { readonly query: JobsQuery; readonly answer: JobsAnswer };
}

export type LedgerTopic = keyof LedgerTopics;

/** A question to the reader's thread about one of these topics. */
export type LedgerQuestion<Topic extends LedgerTopic = LedgerTopic> = {
  [About in Topic]: { readonly about: About; readonly query: LedgerTopics[About]["query"] };
}[Topic];

/** The reason why there is no answer: the question cannot be answered as asked, or the ledger cannot be read. */
export interface LedgerFailure {
  readonly ok: false;
  readonly fault: "question" | "ledger";
  readonly error: string;
  readonly nextStep: string;
}

/** An answer, or the reason why there is none. */
export type LedgerResult<Answer> = { readonly ok: true; readonly answer: Answer } | LedgerFailure;

/** The failure that the ledger cannot be read. */
export function ledgerFailure(error: string, nextStep: string): LedgerFailure {
  return { ok: false, fault: "ledger", error, nextStep };
}
