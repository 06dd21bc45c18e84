import type { CounterName, LabelsOf, LabelValue, SeriesName } from "./catalogue.ts";

/**
 * A PromQL expression whose result has exactly `Labels`. Expressions are made only by the functions of this folder, so a metric
 * that does not exist, a label that its metric does not have, or one that was aggregated away does not compile.
 */
export interface Expression<in out Labels extends string> {
  readonly text: string;
  /** Whether it needs parentheses as an operand. */
  readonly compound: boolean;
  readonly labels?: readonly Labels[];
}

/** A plain selector, which range functions take. */
export interface Selector<Name extends SeriesName> extends Expression<LabelsOf<Name>> {
  readonly metric: Name;
}

/** A length of time, as PromQL writes it. */
export type Duration = `${number}${"s" | "m" | "h" | "d" | "w"}`;

/**
 * A window that a dashboard sets: its time range, the step of a panel, or enough steps for a rate. Only Grafana replaces it.
 */
type DashboardWindow = "$__range" | "$__interval" | "$__rate_interval";

/** The time that range functions look back over. */
export type Window = Duration | DashboardWindow;

/** A regular expression (RE2, anchored) or a negated match in a selector. */
export interface Matcher {
  readonly operator: "=~" | "!~" | "!=";
  readonly value: string;
}

/** What a selector requires of the labels of its metric. */
export type Matchers<Name extends SeriesName> = {
  readonly [Label in LabelsOf<Name>]?: LabelValue<Name, Label> | Matcher;
};

/** A matcher that is written `label=~"pattern"`. */
export const matches = (pattern: string): Matcher => ({ operator: "=~", value: pattern });
/** A matcher that is written `label!~"pattern"`. */
export const matchesNot = (pattern: string): Matcher => ({ operator: "!~", value: pattern });
/** A matcher that is written `label!="value"`. */
export const isNot = (value: string): Matcher => ({ operator: "!=", value });

/** A matcher for exactly these values, written `label=~"a|b"`; an empty value also matches a missing label. */
export const oneOf = (values: readonly string[]): Matcher =>
  matches(values.map((value) => value.replaceAll(/[\\.+*?()|[\]{}^$]/g, "\\$&")).join("|"));

/** A metric, narrowed by its labels. */
export function metric<Name extends SeriesName>(name: Name, matchers?: Matchers<Name>): Selector<Name> {
  const entries: [string, string | Matcher | undefined][] = Object.entries(matchers ?? {});
  return { text: selectorText(name, entries), compound: false, metric: name };
}

/** The text of a selector: `name{label="value", ...}`. */
export function selectorText(
  name: string,
  asked: readonly (readonly [label: string, matcher: string | Matcher | undefined])[],
): string {
  const parts = asked.flatMap(([label, matcher]) => {
    if (matcher === undefined) return [];
    const { operator, value } = typeof matcher === "string" ? { operator: "=", value: matcher } : matcher;
    return [`${label}${operator}${quote(value)}`];
  });
  return parts.length === 0 ? name : `${name}{${parts.join(", ")}}`;
}

const ordinaryName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/**
 * Narrows a selector by labels that are not Fairlead's own, which a server adds when it scrapes (`instance`, `pod`, `job`).
 * Names that only newer servers can write are left out.
 */
export function scrapedWith<Name extends SeriesName>(
  selector: Selector<Name>,
  labels: Readonly<Record<string, string>>,
): Selector<Name> {
  const parts = Object.entries(labels)
    .filter(([label]) => ordinaryName.test(label))
    .map(([label, value]) => `${label}=${quote(value)}`);
  if (parts.length === 0) return selector;
  const own = selector.text.endsWith("}") ? [selector.text.slice(selector.metric.length + 1, -1)] : [];
  return { ...selector, text: `${selector.metric}{${[...own, ...parts].join(", ")}}` };
}

/** Increase of a counter over a window. */
export function increase<Name extends CounterName>(of: Selector<Name>, window: Window): Expression<LabelsOf<Name>> {
  return call(`increase(${of.text}[${window}])`);
}

/** Aggregates to the labels in `by`; without them, to one number. */
export function aggregate<Labels extends string, By extends Labels = never>(
  how: "sum" | "avg" | "min" | "max" | "count",
  of: Expression<Labels>,
  by: readonly By[] = [],
): Expression<By> {
  return call(`${how} by (${by.join(", ")}) (${of.text})`);
}

/** The `count` largest series. */
export function topk<Labels extends string>(count: number, of: Expression<Labels>): Expression<Labels> {
  return call(`topk(${count}, ${of.text})`);
}

/** Seconds that have passed since a time stamp. */
export function secondsSince<Labels extends string>(of: Expression<Labels>): Expression<Labels> {
  return { text: `time() - ${operand(of)}`, compound: true };
}

/** Arithmetic of two expressions with the same labels, or of an expression and a number. */
export function arithmetic<Labels extends string>(
  left: Expression<Labels>,
  operator: "+" | "-" | "*" | "/",
  right: Expression<Labels> | number,
): Expression<Labels> {
  return { text: `${operand(left)} ${operator} ${operand(right)}`, compound: true };
}

/** Arithmetic of two expressions that share the labels `on`; the result keeps these. */
export function arithmeticOn<Left extends string, Right extends string, On extends Left & Right>(
  left: Expression<Left>,
  operator: "+" | "-" | "*" | "/",
  right: Expression<Right>,
  on: readonly On[],
): Expression<On> {
  return { text: `${operand(left)} ${operator} on (${on.join(", ")}) ${operand(right)}`, compound: true };
}

/** Adds the labels `include` of an info metric to every series of `left`. */
export function withLabelsOf<Left extends string, Right extends string, On extends Left & Right, Include extends Right>(
  left: Expression<Left>,
  info: Expression<Right>,
  on: readonly On[],
  include: readonly Include[],
): Expression<Left | Include> {
  const matching = `* on (${on.join(", ")}) group_left (${include.join(", ")})`;
  return { text: `${operand(left)} ${matching} ${operand(info)}`, compound: true };
}

/** Keeps the series for which the comparison is true. */
export function where<Labels extends string>(
  left: Expression<Labels>,
  operator: ">" | ">=" | "<" | "<=" | "==" | "!=",
  right: Expression<Labels> | number,
): Expression<Labels> {
  return { text: `${operand(left)} ${operator} ${operand(right)}`, compound: true };
}

/** Keeps the series of `left` that have (`and`) or lack (`unless`) a partner with the same values of the labels `on`. */
export function filter<Left extends string, Right extends string, On extends Left & Right>(
  left: Expression<Left>,
  operator: "and" | "unless",
  right: Expression<Right>,
  on: readonly On[],
): Expression<Left> {
  return { text: `${operand(left)} ${operator} on (${on.join(", ")}) ${operand(right)}`, compound: true };
}

/** An expression from its text, for the functions of this folder. The caller is responsible for its labels. */
export function call<Labels extends string>(text: string): Expression<Labels> {
  return { text, compound: false };
}

/** The text of an expression as an operand. */
export function operand<Labels extends string>(of: Expression<Labels> | number): string {
  if (typeof of === "number") return of < 0 ? `(${of})` : `${of}`;
  return of.compound ? `(${of.text})` : of.text;
}

function quote(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
