import type { AccountsQuery, AccountsResult } from "../../accounts/ledger/accountsQuery.ts";
import type { QueueQuery, QueueResult } from "../../accounts/ledger/queueQuery.ts";
import type { Explained } from "../explain/explain.ts";
import type { ExplainedKind } from "../explain/kinds.ts";
import type { PageLimits } from "../families.ts";
import type { Health } from "../health.ts";
import type { Publication } from "../publication.ts";

/** What the HTTP faces read. All of it is at hand: no request makes Fairlead read a source or wait for a cycle. */
export interface Faces {
  /** What the last complete cycle left; `null` before the first one. */
  readonly latest: () => Publication | null;
  /** Fairlead's own health, as of now. */
  readonly health: () => Health;
  /** How the numbers of one team, queue, pod or node came about, found in several turns; `null` before the first cycle. */
  readonly explain: (kind: ExplainedKind, name: string) => Promise<Explained | null>;
  /** Answers questions about booked GPU time, outside this thread; absent when no ledger is kept. */
  readonly ledger?: (query: AccountsQuery) => Promise<AccountsResult>;
  /** The same about queues, waits and evictions. */
  readonly ledgerQueues?: (query: QueueQuery) => Promise<QueueResult>;
  /** Seconds since the epoch. */
  readonly now: () => number;
  readonly limits: PageLimits;
  /** The text of `createProcessMetrics`. */
  readonly processMetrics: () => Promise<string>;
  /** Path of the page of metrics. */
  readonly telemetryPath: string;
  /** Users and bcrypt hashes; empty: everybody may read. */
  readonly users: Readonly<Record<string, string>>;
}
