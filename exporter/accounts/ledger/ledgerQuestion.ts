import type { AccountsQuery, AccountsResult } from "./accountsQuery.ts";
import type { JobsQuery, JobsResult } from "./jobsQuery.ts";
import type { LedgerTableQuery, LedgerTableResult } from "./ledgerTableQuery.ts";
import type { PriceQuery, PriceResult } from "./priceQuery.ts";
import type { AdviceQuery, AdviceResult } from "./queryAdvice.ts";
import type { PoolsQuery, PoolsResult } from "./queryPools.ts";
import type { WithheldQuery, WithheldResult } from "./withheld.ts";

/** A question to the reader's thread. */
export type LedgerQuestion =
  | { readonly about: "gpu-time"; readonly query: AccountsQuery }
  | { readonly about: "ledger-table"; readonly query: LedgerTableQuery }
  | { readonly about: "prices"; readonly query: PriceQuery }
  | { readonly about: "pools"; readonly query: PoolsQuery }
  | { readonly about: "advice"; readonly query: AdviceQuery }
  | { readonly about: "withheld"; readonly query: WithheldQuery }
  | { readonly about: "jobs"; readonly query: JobsQuery };

/** Why there is no answer to any question. */
export interface LedgerFailure {
  readonly ok: false;
  readonly fault: "question" | "ledger";
  readonly error: string;
  readonly nextStep: string;
}

/** An answer of the reader's thread; `nothing`: the ledger cannot be read. */
export type LedgerResult =
  | { readonly about: "gpu-time"; readonly result: AccountsResult }
  | { readonly about: "ledger-table"; readonly result: LedgerTableResult }
  | { readonly about: "prices"; readonly result: PriceResult }
  | { readonly about: "pools"; readonly result: PoolsResult }
  | { readonly about: "advice"; readonly result: AdviceResult }
  | { readonly about: "withheld"; readonly result: WithheldResult }
  | { readonly about: "jobs"; readonly result: JobsResult }
  | { readonly about: "nothing"; readonly result: LedgerFailure };
