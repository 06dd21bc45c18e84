import { z } from "zod";
import { configSchema } from "../../exporter/config/schema.ts";
import { priceFileSchema } from "../../exporter/sources/prices/priceFileSchema.ts";
import { schemaOfValues } from "./describedValues.ts";

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The options for JSON Schema, draft 7, which every version of Helm reads. */
const draft7 = { target: "draft-7", io: "input", unrepresentable: "any" } as const;

/**
 * The schema of the values, by which Helm refuses anything else before it installs: the documentation in values.yaml for each
 * value, and for `config` and `prices` the schemas with which Fairlead itself reads them.
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
 * The same schema without features that Go's regular expressions lack ("does not begin with" becomes a pattern that must not
 * match), and with a rule that JSON Schema cannot derive: every URL of the configuration is one of HTTP.
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

/**
 * The position of the closing bracket for the one that opens at `opens`; brackets in character classes do not occur in our
 * patterns.
 */
function closingBracket(pattern: string, opens: number): number {
  let depth = 0;
  for (let at = opens; at < pattern.length; at++) {
    if (pattern[at] === "(") depth += 1;
    if (pattern[at] === ")") depth -= 1;
    if (depth === 0) return at;
  }
  return pattern.length;
}

/** The schema of the configuration without the settings that the chart sets by itself. */
function configInChart(): JsonSchema {
  const ledger = configSchema.shape.ledger.unwrap().partial({ path: true }).omit({ path: true }).optional();
  const inChart = configSchema.omit({ replicas: true }).extend({ ledger });
  const { $schema: _, ...schema } = z.toJSONSchema(inChart, draft7);
  return schema;
}

/** The schema of a price file, which may be empty. */
function pricesInChart(): JsonSchema {
  const { $schema: _, required: __, ...schema } = z.toJSONSchema(priceFileSchema, draft7);
  return schema;
}
