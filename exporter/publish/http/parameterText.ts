/** One parameter of an operation, as openapi.json describes it. */
export interface ParameterText {
  readonly name: string;
  readonly schema: object;
  readonly description: string;
}

/** The window of a question about the past. */
export const windowParameters: readonly ParameterText[] = [
  {
    name: "from",
    schema: { type: "string", default: "7d" },
    description: "Begin: a date (2026-11-21), a time (2026-11-21T07:00Z), or a span before the end (7d, 12h).",
  },
  {
    name: "to",
    schema: { type: "string" },
    description: "End, itself not in it. Default: the end of this hour (UTC).",
  },
];

/** What an answer is grouped by; `standard` is the default, `more` are further remarks. */
export function byParameter(standard: string, dimensions: readonly string[], more = ""): ParameterText {
  return {
    name: "by",
    schema: { type: "string", default: standard },
    description: `Dimensions, separated by commas: ${dimensions.join(", ")}.${more}`,
  };
}

/** What an answer is confined to. */
export function filterParameter(name: string): ParameterText {
  return {
    name,
    schema: { type: "string" },
    description: `Only this ${name}; may be repeated, empty is none.`,
  };
}
