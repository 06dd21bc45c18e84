import type { LedgerFailure } from "./ledgerQuestion.ts";

/** A question about what names stood for within a window. */
export interface PoolsQuery {
  /** Seconds since the epoch; the window is [from, to). */
  readonly from: number;
  readonly to: number;
}

/**
 * Which pools quota domains had, and which GPU models pools had, each pair once, sorted by name: those in use on the day of
 * `from` or later. The pools of a domain never change, because its name contains them.
 */
export interface PoolsAnswer extends PoolsQuery {
  readonly domains: readonly { readonly domain: string; readonly pool: string }[];
  readonly models: readonly { readonly pool: string; readonly model: string }[];
}

/** An answer, or why there is none. */
export type PoolsResult = { readonly ok: true; readonly answer: PoolsAnswer } | LedgerFailure;
