import type { z } from "zod";
import { schemaOfValues } from "./describedValues.ts";

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** A table of all values in a text of values.yaml; the configuration and the prices have references of their own. */
export function valuesReference(values: string): string {
  return ["| value | default | meaning |", "|---|---|---|", ...rows(schemaOfValues(values), "")].join("\n");
}

function rows(schema: JsonSchema, prefix: string): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    if (typeof property !== "object") return [];
    const path = `${prefix}${name}`;
    if (property.properties !== undefined) return rows(property, `${path}.`);
    const preset = JSON.stringify(property.default) ?? "";
    return [`| \`${path}\` | \`${preset}\` | ${(property.description ?? "").replaceAll("|", "\\|")} |`];
  });
}
