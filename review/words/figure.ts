/** Units of amounts other than money. `points` are hundredths of a ratio's difference, kept as 0.03 for 3 points. */
export type Quantity =
  | "GPU-h"
  | "GPU-h/week"
  | "GPUs"
  | "GPUs/week"
  | "node-h"
  | "h"
  | "s"
  | "ratio"
  | "points"
  | "count"
  | "date";

/** A currency, and whether an amount of it is per day, week or month; `null`: it is an amount and not a rate. */
export interface MoneyUnit {
  readonly currency: string;
  readonly per: "day" | "week" | "month" | null;
}

export type Unit = Quantity | MoneyUnit;

/** One number of a review, which every output format shows. `value` is an instant of ISO 8601 where the unit is `date`. */
export interface Figure {
  /** What is measured: `allocated`, `cost`; with section, cluster and item it names one number of the review. */
  readonly measure: string;
  readonly unit: Unit;
  readonly value: number | string | null;
}

/** A unit as the CSV names it: `GPU-h`, `USD`, `EUR/week`. */
export function unitName(unit: Unit): string {
  if (typeof unit === "string") return unit;
  return unit.per === null ? unit.currency : `${unit.currency}/${unit.per}`;
}

/** The figures of an amount of money, one for each of its currencies, in the order of their names. */
export function moneyFigures(
  measure: string,
  costs: Readonly<Record<string, number>>,
  per: MoneyUnit["per"] = null,
): readonly Figure[] {
  return Object.entries(costs)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([currency, value]) => ({ measure, unit: { currency, per }, value }));
}
