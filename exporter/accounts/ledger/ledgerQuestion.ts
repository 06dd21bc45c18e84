import type { AccountsQuery, AccountsResult } from "./accountsQuery.ts";
import type { QueueQuery, QueueResult } from "./queueQuery.ts";

/** What the reader's thread is asked. */
export type LedgerQuestion =
  | { readonly about: "gpu-time"; readonly query: AccountsQuery }
  | { readonly about: "queues"; readonly query: QueueQuery };

/** Why there is no answer, whatever was asked. */
export interface LedgerFailure {
  readonly ok: false;
  readonly fault: "question" | "ledger";
  readonly error: string;
  readonly nextStep: string;
}

/** What the reader's thread answers; `nothing`: the ledger cannot be read. */
export type LedgerResult =
  | { readonly about: "gpu-time"; readonly result: AccountsResult }
  | { readonly about: "queues"; readonly result: QueueResult }
  | { readonly about: "nothing"; readonly result: LedgerFailure };
