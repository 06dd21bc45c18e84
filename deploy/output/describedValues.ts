import { type Document, isMap, isNode, isScalar, parse, parseDocument, type YAMLMap } from "yaml";
import { z } from "zod";

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** A schema of a map whose values are known. */
export interface MapSchema extends JsonSchema {
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

/**
 * The schema of the values that a text of values.yaml has: of each its meaning (the comment above it), its default, the type
 * of that, and what a line of the comment that begins with `@schema` says beyond it, in words of JSON Schema. Throws where
 * a value has no meaning.
 */
export function schemaOfValues(text: string): MapSchema {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) throw error;
  if (!isMap(document.contents)) throw new Error("values.yaml holds no values");
  return schemaOfMap(document, document.contents, "");
}

/**
 * Helm gives every value its default before it looks at the schema: what is missing then was set to `null`. That may be
 * done to what is empty by default, and to maps that go into a manifest as they are; of anything else, templates would
 * make nonsense (`replicas: 0`).
 */
function schemaOfMap(document: Document, map: YAMLMap, prefix: string): MapSchema {
  const entries = map.items.map(({ key, value }, index) => {
    const name = isScalar(key) ? String(key.value) : "";
    const path = `${prefix}${name}`;
    const found =
      isMap(value) && hasMeanings(value)
        ? schemaOfMap(document, value, `${path}.`)
        : schemaOfDefault(isNode(value) ? value.toJS(document) : null);
    return [name, { ...found, ...saidOf(path, commentAbove(map, index)) }] as const;
  });
  const required = entries.filter(([, property]) => isNeeded(property)).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(entries),
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
  };
}

const keyword = "@schema ";
const keywordsSchema = z.record(z.string(), z.json());

/** The content of the comment above a value. */
function saidOf(path: string, comment: readonly string[]): JsonSchema {
  const description = comment.filter((line) => !line.startsWith(keyword)).join(" ");
  if (description === "")
    throw new Error(`values.yaml does not say what ${path} means. Write it in a comment above it.`);
  const said = comment
    .filter((line) => line.startsWith(keyword))
    .map((line) => keywordsSchema.parse(parse(`{${line.slice(keyword.length)}}`)));
  return Object.assign({ description }, ...said);
}

/** The last paragraph of what is above a value; above the first one of a map, the parser takes it for the map's. */
function commentAbove(map: YAMLMap, index: number): readonly string[] {
  const key = map.items[index]?.key;
  const comment = (isScalar(key) ? key.commentBefore : null) ?? (index === 0 ? map.commentBefore : null) ?? "";
  const paragraph = comment.split("\n\n").at(-1) ?? "";
  return paragraph === "" ? [] : paragraph.split("\n").map((line) => line.trim());
}

/** Whether the values of a map have meanings of their own; else it goes into a manifest as it is. */
function hasMeanings(map: YAMLMap): boolean {
  return map.items.some((_, index) => commentAbove(map, index).length > 0);
}

const defaultSchema = z.union([
  z.boolean().transform((preset) => ({ type: "boolean" as const, default: preset })),
  z.int().transform((preset) => ({ type: "integer" as const, default: preset })),
  z.string().transform((preset) => ({ type: "string" as const, default: preset })),
  z.array(z.json()).transform((preset) => ({ type: "array" as const, default: preset })),
  z.record(z.string(), z.json()).transform((preset) => ({ type: "object" as const, default: preset })),
]);

function schemaOfDefault(preset: unknown): JsonSchema {
  return defaultSchema.parse(preset);
}

function isNeeded({ properties, default: preset }: JsonSchema): boolean {
  if (properties !== undefined) return true;
  return Array.isArray(preset) ? preset.length > 0 : typeof preset !== "object" && preset !== "";
}
