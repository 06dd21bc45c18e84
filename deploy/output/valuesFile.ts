import { Document, isMap, isScalar, type Pair, Scalar, type YAMLMap } from "yaml";
import type { z } from "zod";
import { valuesSchema } from "../values/schema.ts";
import { valuesJsonSchema } from "./valuesJsonSchema.ts";

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The chart's values.yaml: every value at its default, with its meaning above it. */
export function valuesFile(firstLine: string): string {
  const document = new Document(valuesSchema.parse({}), { aliasDuplicateObjects: false });
  if (isMap(document.contents)) explain(document.contents, valuesJsonSchema());
  document.commentBefore = ` ${firstLine}`;
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** Writes the meaning of each value above it, of maps whose values have meanings of their own, too. */
function explain(map: YAMLMap, schema: JsonSchema): void {
  for (const item of map.items) {
    const described = propertyOf(schema, item);
    if (described === null) continue;
    if (described.description !== undefined && isScalar(item.key)) {
      item.key.commentBefore = wrapped(described.description);
    }
    if (isMap(item.value) && described.properties !== undefined && item.value.items.length > 0) {
      explain(item.value, described);
    }
  }
}

function propertyOf(schema: JsonSchema, { key }: Pair): JsonSchema | null {
  const name = key instanceof Scalar ? String(key.value) : String(key);
  const found = schema.properties?.[name];
  return typeof found === "object" ? found : null;
}

/** A comment in lines of at most 110 letters. */
function wrapped(text: string): string {
  const lines: string[] = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last.length > 0 && last.length + word.length > 109) lines.push(` ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join("\n");
}
