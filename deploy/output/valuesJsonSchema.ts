import { z } from "zod";
import { configSchema } from "../../exporter/config/schema.ts";
import { priceFileSchema } from "../../exporter/sources/prices/priceFileSchema.ts";
import { valuesSchema } from "../values/schema.ts";

/** A schema in JSON Schema, draft 7: what every version of Helm reads. */
type JsonSchema = z.core.JSONSchema.BaseSchema;

const draft7 = { target: "draft-7", io: "input", unrepresentable: "any" } as const;

/** What may stand in values, for Helm, which refuses anything else before it installs. */
export function valuesJsonSchema(): JsonSchema {
  const schema = withRequired(z.toJSONSchema(valuesSchema, draft7));
  return forGo({
    ...schema,
    properties: {
      ...schema.properties,
      config: withDescription(configInChart(), schema.properties?.config),
      prices: withDescription(pricesInChart(), schema.properties?.prices),
    },
  });
}

/**
 * Helm gives every value its default before it looks at the schema: what is missing then was set to `null`. That may be
 * done to what is empty by default, and to maps that go into a manifest as they are; of anything else, templates would
 * make nonsense (`replicas: 0`).
 */
function withRequired(schema: JsonSchema): JsonSchema {
  if (schema.properties === undefined) return schema;
  const properties = Object.entries(schema.properties).map(
    ([name, property]) => [name, typeof property === "object" ? withRequired(property) : property] as const,
  );
  const required = properties.filter(([, property]) => isNeeded(property)).map(([name]) => name);
  return { ...schema, properties: Object.fromEntries(properties), ...(required.length === 0 ? {} : { required }) };
}

function isNeeded(property: JsonSchema | boolean): boolean {
  if (typeof property !== "object") return false;
  if (property.properties !== undefined) return true;
  const { default: preset } = property;
  return Array.isArray(preset) ? preset.length > 0 : typeof preset !== "object" && preset !== "";
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

function withDescription(schema: JsonSchema, other: JsonSchema | boolean | undefined): JsonSchema {
  return typeof other === "object" && other.description !== undefined
    ? { ...schema, description: other.description, default: {} }
    : schema;
}
