import type { z } from "zod";

type JsonSchema = z.core.JSONSchema.BaseSchema;

/**
 * The same schema without what Go's regular expressions lack ("does not begin with" becomes a pattern that must not match),
 * and with what JSON Schema has no word for: every URL of the configuration is one of HTTP.
 */
export function forGo(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (_, part: unknown) => {
    if (isUrl(part)) return { ...part, pattern: "^https?://" };
    return isPatterned(part) ? withoutLookahead(part) : part;
  });
}

function isUrl(part: unknown): part is object {
  return typeof part === "object" && part !== null && "format" in part && part.format === "uri";
}

interface Patterned {
  readonly pattern: string;
}

function isPatterned(part: unknown): part is Patterned {
  return typeof part === "object" && part !== null && "pattern" in part && typeof part.pattern === "string";
}

const lookahead = "^(?!";

function withoutLookahead(schema: Patterned): object {
  const { pattern, ...others } = schema;
  if (!pattern.startsWith(lookahead)) return schema;
  const end = closingBracket(pattern, 1);
  const refused = pattern.slice(lookahead.length, end);
  return { ...others, pattern: `^${pattern.slice(end + 1)}`, not: { pattern: `^(?:${refused})` } };
}

/** Where the bracket closes that opens at a place; brackets in character classes do not occur in our patterns. */
function closingBracket(pattern: string, opens: number): number {
  let depth = 0;
  for (let at = opens; at < pattern.length; at++) {
    if (pattern[at] === "(") depth += 1;
    if (pattern[at] === ")") depth -= 1;
    if (depth === 0) return at;
  }
  return pattern.length;
}
