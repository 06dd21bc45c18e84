/** A variable with its chosen values and their text. */
export interface SetVariable {
  readonly name: string;
  readonly label: string;
  readonly isHidden: boolean;
  readonly values: readonly string[];
  /** The value that a query gets if all values are chosen; `null` if they are not, or if the variable has none. */
  readonly allValue: string | null;
  readonly text: string;
  /** Whether it may have several values: then it is inserted into queries as a regular expression. */
  readonly isMulti: boolean;
}

/** The variables that Grafana itself sets, such as `__range`. */
export type BuiltIn = Readonly<Record<string, string>>;

const reference = /\$(\w+)|\[\[(\w+)\]\]|\$\{(\w+)(?::(\w+))?\}/g;

const escapedForRegex = (value: string): string => value.replace(/[\\^$*+?.()|[\]{}]/g, "\\\\$&");

function formatted(variable: SetVariable, format: string | undefined): string {
  if (format === "text") return variable.text;
  if (variable.allValue !== null && format === undefined) return variable.allValue;
  if (format === "queryparam")
    return variable.values.map((one) => `var-${variable.name}=${encodeURIComponent(one)}`).join("&");
  if (format === "csv" || format === "raw") return variable.values.join(",");
  if (format === "pipe") return variable.values.join("|");
  const escaped = variable.isMulti || format === "regex" ? variable.values.map(escapedForRegex) : variable.values;
  return escaped.length === 1 ? (escaped[0] ?? "") : `(${escaped.join("|")})`;
}

/** Replaces the variables in a text by their values, as Grafana does for Prometheus; unknown variables are kept. */
export function interpolate(text: string, variables: readonly SetVariable[], builtIn: BuiltIn): string {
  return text.replace(reference, (whole, plain, bracketed, braced, format: string | undefined) => {
    const name: string = plain ?? bracketed ?? braced;
    const own = builtIn[name];
    if (own !== undefined) return own;
    const variable = variables.find((one) => one.name === name);
    return variable === undefined ? whole : formatted(variable, format);
  });
}
