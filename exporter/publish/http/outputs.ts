import type { AccountsQuery, AccountsResult } from "../../accounts/ledger/accountsQuery.ts";
import type { LedgerCopies } from "../../accounts/ledger/ledgerCopies.ts";
import type { LedgerTableQuery, LedgerTableResult } from "../../accounts/ledger/ledgerTableQuery.ts";
import type { PriceQuery, PriceResult } from "../../accounts/ledger/priceQuery.ts";
import type { Budgets } from "../../history/budgetWatch.ts";
import type { History } from "../../history/history.ts";
import type { ReceivedAlert } from "../../model/receivedAlert.ts";
import type { Advice } from "../../model/recommendation.ts";
import type { Explained } from "../explain/explain.ts";
import type { ExplainedKind } from "../explain/kinds.ts";
import type { PageLimits } from "../families.ts";
import type { Health } from "../health.ts";
import type { Runbooks } from "../pages/runbookPages.ts";
import type { Publication } from "../publication.ts";
import type { ReviewOutput } from "./reviewRoute.ts";
import type { TeamsByUser } from "./teamView.ts";

/** What the HTTP outputs read. All of it is at hand: no request makes Fairlead read a source or wait for a cycle. */
export interface Outputs {
  /** Name of the cluster, as configured. */
  readonly cluster: string;
  /** What the last complete cycle left; `null` before the first one. */
  readonly latest: () => Publication | null;
  /** Returns Fairlead's own health as of now. */
  readonly health: () => Health;
  /** Explains how the numbers of one team, queue, workload, pod or node came about; `null` before the first cycle. */
  readonly explain: (kind: ExplainedKind, name: string) => Explained | null;
  /** Answers questions about counted GPU time, outside this thread; absent when no ledger is kept. */
  readonly ledger?: (query: AccountsQuery) => Promise<AccountsResult>;
  /**
   * Answers questions about a table of the ledger (such as queues, waits, evictions and nodes); absent when no ledger is kept.
   */
  readonly ledgerTables?: (query: LedgerTableQuery) => Promise<LedgerTableResult>;
  /** Answers questions about the prices that were used; absent when no ledger is kept. */
  readonly ledgerPrices?: (query: PriceQuery) => Promise<PriceResult>;
  /** Copies the ledger; absent when none is kept. */
  readonly ledgerBackup?: LedgerCopies;
  /** The source of the past, and the states for which nobody pays; absent if nothing keeps the past. */
  readonly past?: { readonly history: History; readonly notCharged: readonly string[] };
  /** How budgets are doing; `null` while that is not known. */
  readonly budgets?: () => Budgets | null;
  /** The writer of capacity reviews; absent if nothing keeps the past. */
  readonly review?: ReviewOutput;
  /** The runbooks of the alerts; absent where there are none. */
  readonly runbooks?: Runbooks;
  /** What people and alerts may report to the adviser; absent if there is none. */
  readonly adviser?: {
    readonly latest: () => Advice;
    readonly dismiss: (id: string, by: string, reason: string) => boolean;
    readonly take: (id: string, by: string) => boolean;
    readonly receive: (alerts: readonly ReceivedAlert[]) => Advice;
  };
  /** The present time, seconds since the epoch. */
  readonly now: () => number;
  readonly limits: PageLimits;
  /** Returns the text of `createProcessMetrics`. */
  readonly processMetrics: () => Promise<string>;
  /** Path of the page of metrics. */
  readonly telemetryPath: string;
  /** Users and bcrypt hashes; empty: everybody may read. */
  readonly users: Readonly<Record<string, string>>;
  /** Users who may see the data of some teams alone; all others see everything. Absent: everybody does. */
  readonly teams?: TeamsByUser;
}
