import { hoursPerDay, secondsPerHour } from "./schema.ts";

/** The window of tables whose rows are always kept by hour. */
export const byHour = { window: "t.hour >= ? AND t.hour < ?", windowSeconds: secondsPerHour };
/** The window of tables whose rows by hour are folded into days after some time. */
export const byHourOrDay = {
  window: "t.daily IN (0, 1) AND t.hour >= ? AND t.hour < ?",
  windowSeconds: secondsPerHour,
};
/** The times by which rows of hours can be grouped. */
export const times = { day: `t.hour / ${hoursPerDay}`, hour: "t.hour" };

/**
 * A ledger table: where its rows come from, as parts of a statement, and what it can be asked. `from` or `window` contains two
 * parameters, for the start and the end of the window in units of `windowSeconds`.
 */
export interface LedgerTableSource {
  readonly from: string;
  readonly window: string;
  readonly windowSeconds: number;
  /**
   * The columns by dimension. Rows can be grouped by each dimension, and selected by all but times. A workload is
   * `KIND/NAMESPACE/NAME`.
   */
  readonly columns: Readonly<Record<string, string>>;
  /** The dimensions, separated by commas, that an answer is grouped by if the question names none. */
  readonly groups: string;
  /** The sums of a group by name. */
  readonly sums: Readonly<Record<string, string>>;
  /** The amounts of an answer's rows, where some of them are computed from the sums; by default the sums themselves. */
  readonly amounts?: readonly string[];
  /** Whether the totals are the sums of the groups; otherwise they are computed from the rows. */
  readonly addsUp: boolean;
  /** The sum by which groups are ordered. */
  readonly rank: string;
  /** The column whose values are kept apart within a group; absent if there is none. */
  readonly bucket?: string;
}
