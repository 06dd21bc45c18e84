import { askInstant, askLabelValues } from "./askPrometheus.ts";
import type { Variable } from "./dashboardJson.ts";
import { type BuiltIn, interpolate, type SetVariable } from "./interpolate.ts";

/** The span of time that a dashboard shows, seconds since the epoch. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const labelValues = /^label_values\(\s*(?:(.+?)\s*,\s*)?(\w+)\s*\)$/s;
const queryResult = /^query_result\((.+)\)$/s;

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null && "query" in value) return textOf(value.query);
  return "";
}

function currentValues({ current }: Variable): readonly string[] {
  const { value } = current;
  const all = Array.isArray(value) ? value.map(String) : value === undefined || value === "" ? [] : [String(value)];
  return all.includes("$__all") ? [] : all;
}

async function possibleValues(
  variable: Variable,
  set: readonly SetVariable[],
  builtIn: BuiltIn,
  span: Span,
): Promise<readonly string[]> {
  if (variable.type !== "query") {
    if (variable.type !== "custom" && variable.type !== "interval") return [];
    const listed = variable.options.map(({ value }) => String(value)).filter((value) => value !== "$__all");
    if (listed.length > 0) return listed;
    // The list contains `key : value` or plain values.
    return textOf(variable.query)
      .split(",")
      .map((one) => (one.split(" : ")[1] ?? one).trim())
      .filter((one) => one !== "");
  }
  const asked = interpolate(textOf(variable.query) || (variable.definition ?? ""), set, builtIn);
  const [, match, label] = labelValues.exec(asked) ?? [];
  if (label !== undefined) return await askLabelValues(label, match ?? null, span.from, span.to);
  const [, expression] = queryResult.exec(asked) ?? [];
  const series = expression === undefined ? [] : await askInstant(expression, span.to);
  return series.map(({ labels, points }) => {
    const { __name__: name = "", ...others } = labels;
    const inside = Object.entries(others).map(([key, value]) => `${key}="${value}"`);
    return `${name}{${inside.join(",")}} ${points[0]?.[1] ?? ""} ${points[0]?.[0] ?? ""}`;
  });
}

/** The values of a variable that its `regex` leaves, as the first group of a match where there is one. */
function narrowed(values: readonly string[], regex: string): readonly string[] {
  const [, pattern, flags] = /^\/(.*)\/(\w*)$/s.exec(regex) ?? [];
  if (pattern === undefined) return values;
  const found = values.flatMap((value) => {
    const match = new RegExp(pattern, flags).exec(value);
    return match === null ? [] : [match.groups?.value ?? match[1] ?? match[0]];
  });
  return [...new Set(found)];
}

type Common = Pick<SetVariable, "name" | "label" | "isHidden" | "isMulti">;

/** A variable with one value and no choice; `null` if it can have several. */
function fixedVariable(variable: Variable, common: Common): SetVariable | null {
  const { type } = variable;
  if (type === "datasource") return { ...common, values: ["prometheus"], allValue: null, text: "Prometheus" };
  if (type !== "constant" && type !== "textbox") return null;
  const value = currentValues(variable)[0] ?? textOf(variable.query);
  return { ...common, values: [value], allValue: null, text: value, isHidden: common.isHidden || type === "constant" };
}

function chosenVariable(
  { includeAll, allValue }: Variable,
  common: Common,
  possible: readonly string[],
  wanted: readonly string[],
): SetVariable {
  if (wanted.length === 0 && includeAll)
    return { ...common, values: possible, allValue: allValue === "" ? null : (allValue ?? null), text: "All" };
  const values = wanted.length > 0 ? wanted : possible.slice(0, 1);
  return { ...common, values, allValue: null, text: values.join(" + ") };
}

/**
 * Sets the variables of a dashboard, in their order: from the address, else to the stored value, else to all values or the
 * first.
 */
export async function setVariables(
  variables: readonly Variable[],
  chosen: URLSearchParams,
  builtIn: BuiltIn,
  span: Span,
): Promise<readonly SetVariable[]> {
  const set: SetVariable[] = [];
  for (const variable of variables.filter(({ type }) => type !== "adhoc")) {
    const { name, label, hide, multi, includeAll } = variable;
    const common = { name, label: label ?? name, isHidden: hide === 2, isMulti: multi === true || includeAll };
    const fixed = fixedVariable(variable, common);
    if (fixed !== null) {
      set.push(fixed);
      continue;
    }
    const possible = narrowed(await possibleValues(variable, set, builtIn, span), variable.regex);
    const asked = chosen.getAll(`var-${name}`);
    set.push(chosenVariable(variable, common, possible, asked.length > 0 ? asked : currentValues(variable)));
  }
  return set;
}
