/** A calendar month (UTC), seconds since the epoch; it ends before `to`. */
interface Month {
  /** `2026-11`. */
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** The month that a moment lies in. */
export function monthOf(at: number): Month {
  const date = new Date(at * 1000);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return {
    name: date.toISOString().slice(0, 7),
    from: Date.UTC(year, month) / 1000,
    to: Date.UTC(year, month + 1) / 1000,
  };
}
