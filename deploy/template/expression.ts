import type { Context } from "./context.ts";

/**
 * How an expression is written into YAML: a `scalar` and a `block` (map or list) as YAML, a `text` of several lines as a
 * literal block.
 */
export type Shape = "scalar" | "block" | "text";

/**
 * Something that is known only when the chart is installed, said twice: as a pipeline of Helm's template language, and as
 * what it comes to for a given context. That both say the same is tested with a real Helm.
 */
export interface Expression<Result> {
  readonly kind: "expression";
  readonly shape: Shape;
  /** A pipeline without braces, such as `.Values.replicas`. */
  readonly pipeline: string;
  readonly resolve: (context: Context) => Result;
}

/** An expression from its two sides. */
export function expression<Result>(
  shape: Shape,
  pipeline: string,
  resolve: (context: Context) => Result,
): Expression<Result> {
  return { kind: "expression", shape, pipeline, resolve };
}

/** A text, number or truth that a user sets, by its path below `.Values`. */
export function value<Result>(path: string, of: (values: Context["values"]) => Result): Expression<Result> {
  return expression("scalar", `.Values.${path}`, ({ values }) => of(values));
}

/** A map or list that a user sets, by its path below `.Values`. */
export function valueBlock<Result>(path: string, of: (values: Context["values"]) => Result): Expression<Result> {
  return expression("block", `.Values.${path}`, ({ values }) => of(values));
}

/** A whole number that a user sets: Helm reads all numbers as floating ones. */
export function valueNumber(path: string, of: (values: Context["values"]) => number): Expression<number> {
  return expression("scalar", `(int .Values.${path})`, ({ values }) => of(values));
}

/** A text in which expressions stand. */
export function text(
  parts: TemplateStringsArray,
  ...inserted: readonly Expression<string | number>[]
): Expression<string> {
  const format = parts.map((part) => part.replaceAll("%", "%%")).join("%v");
  const operands = inserted.map(({ pipeline }) => ` (${pipeline})`).join("");
  return expression("scalar", `printf ${JSON.stringify(format)}${operands}`, (context) =>
    parts.reduce((whole, part, index) => `${whole}${String(inserted[index - 1]?.resolve(context) ?? "")}${part}`),
  );
}

/** A constant text. */
export function constant(of: string): Expression<string> {
  return expression("scalar", JSON.stringify(of), () => of);
}

/** One of two, by a condition. */
export function choose<Result>(
  when: Expression<boolean>,
  then: Expression<Result>,
  otherwise: Expression<Result>,
): Expression<Result> {
  return expression(then.shape, `ternary (${then.pipeline}) (${otherwise.pipeline}) (${when.pipeline})`, (context) =>
    (when.resolve(context) ? then : otherwise).resolve(context),
  );
}

/** Whether something is set: no empty text, map, list, zero or null, as templates understand it. */
export function isSet(of: Expression<unknown>): Expression<boolean> {
  return expression("scalar", `not (empty (${of.pipeline}))`, (context) => !isEmpty(of.resolve(context)));
}

function isEmpty(of: unknown): boolean {
  if (typeof of === "object" && of !== null) return Object.keys(of).length === 0;
  return of === undefined || of === null || of === "" || of === 0 || of === false;
}

/** Whether two texts are the same. */
export function equals(one: Expression<string>, other: string): Expression<boolean> {
  return expression(
    "scalar",
    `eq (${one.pipeline}) ${JSON.stringify(other)}`,
    (context) => one.resolve(context) === other,
  );
}

/** Whether a number is larger than another. */
export function isAbove(one: Expression<number>, limit: number): Expression<boolean> {
  return expression("scalar", `gt (${one.pipeline}) ${limit}`, (context) => one.resolve(context) > limit);
}

export function not(of: Expression<boolean>): Expression<boolean> {
  return expression("scalar", `not (${of.pipeline})`, (context) => !of.resolve(context));
}

export function all(...of: readonly Expression<boolean>[]): Expression<boolean> {
  const pipeline = `and ${of.map((one) => `(${one.pipeline})`).join(" ")}`;
  return expression("scalar", pipeline, (context) => of.every((one) => one.resolve(context)));
}

type TextMap = Readonly<Record<string, string>>;

/** One map of texts from several; what stands first counts, unless it is empty. */
export function merged(...maps: readonly [Expression<TextMap>, ...Expression<TextMap>[]]): Expression<TextMap> {
  const pipeline = `merge (dict) ${maps.map((one) => `(${one.pipeline})`).join(" ")}`;
  return expression("block", pipeline, (context) => {
    const entries = maps.flatMap((one) => Object.entries(one.resolve(context))).reverse();
    return Object.fromEntries([...entries, ...entries.filter(([, of]) => of !== "")]);
  });
}

/** A map with nothing in it. */
export const noTexts: Expression<TextMap> = expression("block", "dict", () => ({}));

/** A map of texts whose keys are known. */
export function textMap(entries: Readonly<Record<string, Expression<string>>>): Expression<TextMap> {
  const pipeline = Object.entries(entries)
    .map(([key, one]) => ` ${JSON.stringify(key)} (${one.pipeline})`)
    .join("");
  return expression("block", `dict${pipeline}`, (context) =>
    Object.fromEntries(Object.entries(entries).map(([key, one]) => [key, one.resolve(context)])),
  );
}

/** The named templates that expressions refer to, which stand in the chart's `_helpers.tpl`. */
export interface NamedExpression<Result> extends Expression<Result> {
  readonly name: string;
  /** What stands between `define` and `end`. */
  readonly definition: string;
}

/** A text with a name, which the chart defines once. */
export function named(name: string, of: Expression<string>): NamedExpression<string> {
  return {
    ...expression("scalar", `include ${JSON.stringify(name)} .`, of.resolve),
    name,
    definition: `{{ ${of.pipeline} }}`,
  };
}

/** A map with a name, which the chart defines once. */
export function namedMap(name: string, of: Expression<TextMap>): NamedExpression<TextMap> {
  return {
    ...expression("block", `include ${JSON.stringify(name)} . | fromJson`, of.resolve),
    name,
    definition: `{{ ${of.pipeline} | toJson }}`,
  };
}
