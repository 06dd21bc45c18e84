import { z } from "zod";
import { configSchema } from "../../exporter/config/schema.ts";
import { priceFileSchema } from "../../exporter/sources/prices/priceFileSchema.ts";
import { schemaOfValues } from "./describedValues.ts";

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** JSON Schema, draft 7: what every version of Helm reads. */
const draft7 = { target: "draft-7", io: "input", unrepresentable: "any" } as const;

/**
 * What may be in values, for Helm, which refuses anything else before it installs: what values.yaml documents for each, and
 * for `config` and `prices` the schemas with which Fairlead itself reads them.
 */
export function valuesJsonSchema(values: string): JsonSchema {
  const { properties, ...schema } = schemaOfValues(values);
  return forGo({
    $schema: "http://json-schema.org/draft-07/schema#",
    ...schema,
    properties: {
      ...properties,
      config: { ...configInChart(), ...properties.config },
      prices: { ...pricesInChart(), ...properties.prices },
    },
  });
}

/**
 * The same schema without what Go's regular expressions lack ("does not begin with" becomes a pattern that must not match),
 * and with what JSON Schema has no word for: every URL of the configuration is one of HTTP.
 */
function forGo(schema: JsonSchema): JsonSchema {
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

/** The configuration without what the chart sets by itself. */
function configInChart(): JsonSchema {
  const ledger = configSchema.shape.ledger.unwrap().partial({ path: true }).omit({ path: true }).optional();
  const inChart = configSchema.omit({ replicas: true }).extend({ ledger });
  const { $schema: _, ...schema } = z.toJSONSchema(inChart, draft7);
  return schema;
}

/** A price file, or nothing. */
function pricesInChart(): JsonSchema {
  const { $schema: _, required: __, ...schema } = z.toJSONSchema(priceFileSchema, draft7);
  return schema;
}
