import { type Document, isMap, isNode, isScalar, parse, parseDocument, type YAMLMap } from "yaml";
import { z } from "zod";

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** A schema of a map whose values are known. */
export interface MapSchema extends JsonSchema {
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

/**
 * The schema of the values in a text of values.yaml: for each its meaning (the comment above it), its default, the type of
 * that, and the further JSON Schema in lines of the comment that begin with `@schema`. Throws where a value has no meaning.
 */
export function schemaOfValues(text: string): MapSchema {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) throw error;
  if (!isMap(document.contents)) throw new Error("values.yaml holds no values");
  return schemaOfMap(document, document.contents, "");
}

/**
 * The schema of a map. Helm gives every value its default before it checks the schema, so a value that is missing then was set
 * to `null`. That is allowed for values that are empty by default, and for maps that go into a manifest as they are; from any
 * other missing value, templates would make nonsense (`replicas: 0`).
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

/** The schema in the comment above a value. */
function saidOf(path: string, comment: readonly string[]): JsonSchema {
  const description = comment.filter((line) => !line.startsWith(keyword)).join(" ");
  if (description === "")
    throw new Error(`values.yaml does not say what ${path} means. Write it in a comment above it.`);
  const said = comment
    .filter((line) => line.startsWith(keyword))
    .map((line) => keywordsSchema.parse(parse(`{${line.slice(keyword.length)}}`)));
  return Object.assign({ description }, ...said);
}

/**
 * The last paragraph of the comment above a value. The parser assigns the comment above the first value of a map to the map.
 */
function commentAbove(map: YAMLMap, index: number): readonly string[] {
  const key = map.items[index]?.key;
  const comment = (isScalar(key) ? key.commentBefore : null) ?? (index === 0 ? map.commentBefore : null) ?? "";
  const paragraph = comment.split("\n\n").at(-1) ?? "";
  return paragraph === "" ? [] : paragraph.split("\n").map((line) => line.trim());
}

/** Whether the values of a map have meanings of their own; if not, the map goes into a manifest as it is. */
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
