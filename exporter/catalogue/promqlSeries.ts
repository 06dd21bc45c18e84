import { call, type Duration, type Expression, type Matcher, operand, selectorText, type Window } from "./promql.ts";

/** Any plain selector: a metric of the catalogue, or a series that a recording rule makes. */
export interface SeriesSelector<in out Labels extends string> extends Expression<Labels> {
  readonly metric: string;
}

/** What a selector of a recorded series requires of its labels. */
export type RecordedMatchers<Labels extends string> = { readonly [Label in Labels]?: string | Matcher };

/** A series that a recording rule makes, with the labels that its rule keeps. */
export function recordedSeries<Labels extends string>(
  name: string,
  matchers: RecordedMatchers<Labels> = {},
): SeriesSelector<Labels> {
  const entries: [string, string | Matcher | undefined][] = Object.entries(matchers);
  return { text: selectorText(name, entries), compound: false, metric: name };
}

/** A plain series, narrowed by labels that are known only as data. */
export function narrowed<Labels extends string>(
  of: SeriesSelector<Labels>,
  asked: readonly (readonly [label: string, matcher: Matcher])[],
): SeriesSelector<Labels> {
  return { text: selectorText(of.metric, asked), compound: false, metric: of.metric };
}

/** Mean, smallest, largest, last value, sum or number of samples of every series over a window. */
export function seriesOverTime<Labels extends string>(
  how: "avg" | "min" | "max" | "last" | "sum" | "count",
  of: SeriesSelector<Labels>,
  window: Window,
): Expression<Labels> {
  return call(`${how}_over_time(${of.text}[${window}])`);
}

/**
 * The GPU-hours of a series of GPUs over a window, parts of which may be missing. It adds up the values of every five minutes,
 * so that it does not matter how often the rule of the series is evaluated.
 */
export function gpuHoursOver<Labels extends string>(of: SeriesSelector<Labels>, window: Window): Expression<Labels> {
  return { text: `sum_over_time(${of.text}[${window}:5m]) / 12`, compound: true };
}

/** The quantile, 0..1, of every series over a window. */
export function quantileOverTime<Labels extends string>(
  quantile: number,
  of: SeriesSelector<Labels>,
  window: Window,
): Expression<Labels> {
  return call(`quantile_over_time(${quantile}, ${of.text}[${window}])`);
}

/** The value that a linear trend through the window has in this many seconds. */
export function predictLinear<Labels extends string>(
  of: SeriesSelector<Labels>,
  window: Window,
  seconds: number,
): Expression<Labels> {
  return call(`predict_linear(${of.text}[${window}], ${seconds})`);
}

/** The rise of a series per second, by a line through the window. */
export function slope<Labels extends string>(of: SeriesSelector<Labels>, window: Window): Expression<Labels> {
  return call(`deriv(${of.text}[${window}])`);
}

/** Gives 1 without labels if no series of this kind had a sample in the window. */
export function absentOverTime<Labels extends string>(of: SeriesSelector<Labels>, window: Window): Expression<never> {
  return call(`absent_over_time(${of.text}[${window}])`);
}

/** A series as it was this long ago. */
export function offset<Labels extends string>(of: SeriesSelector<Labels>, ago: Duration): Expression<Labels> {
  return call(`${of.text} offset ${ago}`);
}

/** The `count` largest series of each group. */
export function topkBy<Labels extends string, By extends Labels>(
  count: number,
  of: Expression<Labels>,
  by: readonly By[],
): Expression<Labels> {
  return call(`topk by (${by.join(", ")}) (${count}, ${of.text})`);
}

/** The smallest series. */
export function smallest<Labels extends string>(of: Expression<Labels>): Expression<Labels> {
  return call(`bottomk(1, ${of.text})`);
}

/** The series in the order of their values, for panels that show series in the order of the answer. */
export function sorted<Labels extends string>(
  of: Expression<Labels>,
  first: "smallest" | "largest",
): Expression<Labels> {
  return call(`${first === "smallest" ? "sort" : "sort_desc"}(${of.text})`);
}

/** Values below `floor` are replaced by it. */
export function clampMin<Labels extends string>(of: Expression<Labels>, floor: number): Expression<Labels> {
  return call(`clamp_min(${of.text}, ${floor})`);
}

/** The time stamp that is this many seconds ahead. */
export function secondsFromNow<Labels extends string>(of: Expression<Labels>): Expression<Labels> {
  return { text: `time() + ${operand(of)}`, compound: true };
}

/** The nearest multiple of `step`. */
export function roundTo<Labels extends string>(of: Expression<Labels>, step: number): Expression<Labels> {
  return call(`round(${of.text}, ${step})`);
}

/** The label `target` gets the value of the label `source`. */
export function labelFrom<Labels extends string, Source extends Labels, Target extends string>(
  of: Expression<Labels>,
  target: Target,
  source: Source,
): Expression<Labels | Target> {
  return call(`label_replace(${of.text}, "${target}", "$1", "${source}", "(.*)")`);
}

/** The label `target` gets a fixed value of plain letters. */
export function labelled<Labels extends string, Target extends string>(
  of: Expression<Labels>,
  target: Target,
  value: string,
): Expression<Labels | Target> {
  return call(`label_replace(${of.text}, "${target}", "${value}", "", "")`);
}

/** All series of `left`, and those of `right` that `left` does not have. */
export function union<Labels extends string, Fewer extends Labels>(
  left: Expression<Labels>,
  right: Expression<Fewer>,
): Expression<Labels> {
  return { text: `${operand(left)} or ${operand(right)}`, compound: true };
}

/** The sum of two expressions; each may lack series that the other has. */
export function sumOfEither<Labels extends string>(
  left: Expression<Labels>,
  right: Expression<Labels>,
): Expression<Labels> {
  const [a, b] = [operand(left), operand(right)];
  return { text: `(${a} + ${b}) or ${a} or ${b}`, compound: true };
}

/** Arithmetic of many series with the one series that has the same values of the labels `on`; all labels of `left` stay. */
export function arithmeticWithOne<Left extends string, Right extends string, On extends Left & Right>(
  left: Expression<Left>,
  operator: "+" | "-" | "*" | "/",
  right: Expression<Right>,
  on: readonly On[],
): Expression<Left> {
  return {
    text: `${operand(left)} ${operator} on (${on.join(", ")}) group_left () ${operand(right)}`,
    compound: true,
  };
}

/** The quantile, 0..1, of buckets that were added up before. */
export function quantileOfBuckets<Labels extends string>(
  quantile: number,
  of: Expression<Labels | "le">,
): Expression<Exclude<Labels, "le">> {
  return call(`histogram_quantile(${quantile}, ${of.text})`);
}

/**
 * Keeps the series that have a partner with the same values of the labels `on`. These may be labels that are not Fairlead's
 * own, such as `instance`, which a server adds when it scrapes and which distinguishes two replicas of one exporter.
 */
export function scrapedTogether<Labels extends string, Right extends string>(
  left: Expression<Labels>,
  right: Expression<Right>,
  on: readonly string[],
): Expression<Labels> {
  return { text: `${operand(left)} and on (${on.join(", ")}) ${operand(right)}`, compound: true };
}

/** The labels that distinguish two replicas of one exporter. Servers add them, except `cluster`. */
export const replicaLabels = ["cluster", "instance", "pod"] as const;

/** Aggregates to one number for each replica. */
export function byReplica<Labels extends string>(
  how: "sum" | "max",
  of: Expression<Labels | "cluster">,
): Expression<"cluster"> {
  return call(`${how} by (${replicaLabels.join(", ")}) (${of.text})`);
}
