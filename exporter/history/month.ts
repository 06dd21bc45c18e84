/** A calendar month (UTC), from `from` up to but without `to`, in seconds since the epoch. */
interface Month {
  /** The name of the month, such as `2026-11`. */
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** The month that contains a moment. */
export function monthOf(at: number): Month {
  const date = new Date(at * 1000);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return {
    name: date.toISOString().slice(0, 7),
    from: Date.UTC(year, month) / 1000,
    to: Date.UTC(year, month + 1) / 1000,
  };
}
