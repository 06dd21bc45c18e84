import { type Expression, filter, where } from "../../exporter/catalogue/promql.ts";
import { arithmeticWithOne, topkBy, union } from "../../exporter/catalogue/promqlSeries.ts";

/**
 * Lost GPU-hours that are worth waking someone for: there must be many, and they must be expensive. Where no price is known, it
 * is enough that there are many. Of several currencies in one place the highest number counts, since this is a comparison and
 * not a sum.
 */
export function worthWaking<Labels extends string, On extends Labels>(
  gpuHours: Expression<Labels>,
  price: Expression<On | "currency">,
  on: readonly On[],
  { gpuHoursAbove, costAbove }: { readonly gpuHoursAbove: number; readonly costAbove: number },
): Expression<Labels> {
  const many = where(gpuHours, ">=", gpuHoursAbove);
  // All lost GPU-hours are multiplied by the price of their place, which drops those without a price.
  const dear = where(arithmeticWithOne(gpuHours, "*", topkBy(1, price, on), on), ">=", costAbove);
  return union(filterBySelf(many, dear), filter(many, "unless", price, on));
}

/** The series of `left` that are also in `right`, with all their labels. */
function filterBySelf<Labels extends string>(left: Expression<Labels>, right: Expression<Labels>): Expression<Labels> {
  return { text: `(${left.text}) and (${right.text})`, compound: true };
}
