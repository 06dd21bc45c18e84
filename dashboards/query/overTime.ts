import { call, type Duration, type Expression, operand } from "../../exporter/catalogue/promql.ts";
import { offset, type SeriesSelector } from "../../exporter/catalogue/promqlSeries.ts";

/** A length of time that is looked back over: fixed, or the dashboard's. */
export type Span = Duration | "$__range";

/**
 * How often numbers are looked at to add them up: closely enough for hours, and quick over a month. A restart
 * of Fairlead, or a change of its replica, takes at most so long away.
 */
const look = "10m";
const looksPerHour = 6;

/** All that was seen in a span that ended so long `ago`. */
function summed<Labels extends string>(of: Expression<Labels>, span: Span, ago?: Span): Expression<Labels> {
  return over("sum_over_time(", of, span, ago);
}

/** GPU-hours of GPUs, or what was paid at so much an hour: only for the time in which it is known. */
export function hoursOver<Labels extends string>(of: Expression<Labels>, span: Span, ago?: Span): Expression<Labels> {
  return hours(summed(of, span, ago));
}

/** Hours of what was added up by looks. */
export function hours<Labels extends string>(of: Expression<Labels>): Expression<Labels> {
  return { text: `${operand(of)} / ${looksPerHour}`, compound: true };
}

/** What came about in a span, of what says at each look how much it was since the look before. */
export function riseOver<Labels extends string>(rise: Expression<Labels>, span: Span, ago?: Span): Expression<Labels> {
  return summed(rise, span, ago);
}

/**
 * The mean over the part of a span in which `known` is there, for each cluster. What was not there for some of that time counts
 * as 0 then: a team that held 8 GPUs for one of seven days had 8 / 7.
 */
export function meanOver<Labels extends string>(
  of: Expression<Labels | "cluster">,
  known: Expression<"cluster">,
  span: Span,
  ago?: Span,
): Expression<Labels | "cluster"> {
  const looks = over("count_over_time(", known, span, ago);
  const text = `${summed(of, span, ago).text} * on (cluster) group_left () (1 / (${looks.text} > 0))`;
  return { text, compound: true };
}

/** The quantile of each series over a span that ended so long ago; 0..1. */
export function quantileOver<Labels extends string>(
  quantile: number,
  of: Expression<Labels>,
  span: Span,
  ago?: Span,
): Expression<Labels> {
  return over(`quantile_over_time(${quantile}, `, of, span, ago);
}

/** How many times each series was seen in a span: to say how much of it is known. */
export function looksOver<Labels extends string>(of: Expression<Labels>, span: Span, ago?: Span): Expression<Labels> {
  return over("count_over_time(", of, span, ago);
}

/** How many times something was seen that was there in such a part of the time range. */
export function looksIn<Labels extends string>(part: number): Expression<Labels> {
  return { text: `$__range_s / ${Math.round(3600 / looksPerHour / part)}`, compound: false };
}

/** What a number was so long ago; now, without `ago`. */
export function at<Labels extends string>(of: SeriesSelector<Labels>, ago?: Duration): Expression<Labels> {
  return ago === undefined ? of : offset(of, ago);
}

/** The sum of what was seen once a day, at midnight UTC: of numbers that are of 24 hours themselves. */
export function sumOfDays<Labels extends string>(of: Expression<Labels>, span: Span): Expression<Labels> {
  return call(`sum_over_time(${operand(of)}[${span}:1d])`);
}

function over<Labels extends string>(
  open: string,
  of: Expression<Labels>,
  span: Span,
  ago: Span | undefined,
): Expression<Labels> {
  return call(`${open}${operand(of)}[${span}:${look}]${ago === undefined ? "" : ` offset ${ago}`})`);
}
