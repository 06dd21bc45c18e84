import { call, type Duration, type Expression, operand } from "../../exporter/catalogue/promql.ts";
import { offset, type SeriesSelector } from "../../exporter/catalogue/promqlSeries.ts";

/** A span of time before now: fixed, or the dashboard's. */
export type Span = Duration | "$__range";

/**
 * The interval of the subqueries that add up numbers: it is short enough for hours, and quick over a month. A restart of
 * Fairlead, or a change of its replica, loses at most this much.
 */
const look = "10m";
const looksPerHour = 6;

/** The sum of all samples in a span that ended `ago` before now. */
function summed<Labels extends string>(of: Expression<Labels>, span: Span, ago?: Span): Expression<Labels> {
  return over("sum_over_time(", of, span, ago);
}

/** GPU-hours from a number of GPUs, or an amount of money from a price per hour: only for the time in which they are known. */
export function hoursOver<Labels extends string>(of: Expression<Labels>, span: Span, ago?: Span): Expression<Labels> {
  return hours(summed(of, span, ago));
}

/** The number of hours from a sum of samples. */
export function hours<Labels extends string>(of: Expression<Labels>): Expression<Labels> {
  return { text: `${operand(of)} / ${looksPerHour}`, compound: true };
}

/** The increase in a span, from a series in which each sample is the increase since the sample before. */
export function riseOver<Labels extends string>(rise: Expression<Labels>, span: Span, ago?: Span): Expression<Labels> {
  return summed(rise, span, ago);
}

/**
 * The mean over the part of a span in which `known` is present, for each cluster. A series that was absent for a part of that
 * time counts as 0 there: a team that held 8 GPUs for one of seven days had 8 / 7.
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

/** The quantile (0..1) of each series over a span that ended `ago` before now. */
export function quantileOver<Labels extends string>(
  quantile: number,
  of: Expression<Labels>,
  span: Span,
  ago?: Span,
): Expression<Labels> {
  return over(`quantile_over_time(${quantile}, `, of, span, ago);
}

/** The number of samples of each series in a span, which shows how much of the span is known. */
export function looksOver<Labels extends string>(of: Expression<Labels>, span: Span, ago?: Span): Expression<Labels> {
  return over("count_over_time(", of, span, ago);
}

/** The number of samples of a series that was present in this part of the time range. */
export function looksIn<Labels extends string>(part: number): Expression<Labels> {
  return { text: `$__range_s / ${Math.round(3600 / looksPerHour / part)}`, compound: false };
}

/** The value of a number `ago` before now; the present one without `ago`. */
export function at<Labels extends string>(of: SeriesSelector<Labels>, ago?: Duration): Expression<Labels> {
  return ago === undefined ? of : offset(of, ago);
}

/** The sum of one sample a day, at midnight UTC, for numbers that are already sums over 24 hours. */
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
