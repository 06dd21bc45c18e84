/**
 * Where the rows of a ledger table come from, as parts of a statement. `from` or `window` has two places, for the begin and the
 * end of the window in units of `windowSeconds`.
 */
export interface LedgerTableSource {
  readonly from: string;
  readonly window: string;
  readonly windowSeconds: number;
  /** By dimension. */
  readonly columns: Readonly<Record<string, string>>;
  /** Sums of a group. */
  readonly sums: Readonly<Record<string, string>>;
  /** Whether the totals are the sums of the groups; else they are distinguished from the rows once more. */
  readonly addsUp: boolean;
  /** The sum by which groups are ordered. */
  readonly rank: string;
  /** Column whose values are kept apart within a group; `null`: none. */
  readonly bucket: string | null;
}
