import { z } from "zod";
import { configSchema } from "../../exporter/config/schema.ts";
import { priceFileSchema } from "../../exporter/sources/prices/priceFileSchema.ts";
import { schemaOfValues } from "./describedValues.ts";
import { forGo } from "./goPatterns.ts";

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** JSON Schema, draft 7: what every version of Helm reads. */
const draft7 = { target: "draft-7", io: "input", unrepresentable: "any" } as const;

/**
 * What may are in values, for Helm, which refuses anything else before it installs: what the text of values.yaml says of
 * each, and for `config` and `prices` the schemas with which Fairlead itself reads them.
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
