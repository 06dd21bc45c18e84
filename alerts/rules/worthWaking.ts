import { type Expression, filter, where } from "../../exporter/catalogue/promql.ts";
import { arithmeticWithOne, topkBy, union } from "../../exporter/catalogue/promqlSeries.ts";

/**
 * Lost GPU-hours that are worth waking someone for: many, and dear. Where no price is known, many are enough. Of several currencies
 * in one place the highest number counts: this compares, and adds nothing up.
 */
export function worthWaking<Labels extends string, On extends Labels>(
  gpuHours: Expression<Labels>,
  price: Expression<On | "currency">,
  on: readonly On[],
  { gpuHoursAbove, costAbove }: { readonly gpuHoursAbove: number; readonly costAbove: number },
): Expression<Labels> {
  const many = where(gpuHours, ">=", gpuHoursAbove);
  // All of them times the price of their place, so that this loses those without one.
  const dear = where(arithmeticWithOne(gpuHours, "*", topkBy(1, price, on), on), ">=", costAbove);
  return union(filterBySelf(many, dear), filter(many, "unless", price, on));
}

/** Those that are in both, with all labels of their own. */
function filterBySelf<Labels extends string>(left: Expression<Labels>, right: Expression<Labels>): Expression<Labels> {
  return { text: `(${left.text}) and (${right.text})`, compound: true };
}
