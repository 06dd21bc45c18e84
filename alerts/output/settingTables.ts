import type { z } from "zod";

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** All settings of a schema with their default and meaning, except for those whose names are in `without`. */
export function settings(
  schema: JsonSchema | undefined,
  prefix: string,
  without: readonly string[],
): readonly (readonly string[])[] {
  return Object.entries(propertiesOf(schema)).flatMap(([name, one]) => {
    if (without.includes(name)) return [];
    if (one.properties !== undefined) return settings(one, `${prefix}${name}.`, []);
    const preset = one.default === undefined ? "" : code(JSON.stringify(one.default));
    return [[code(`${prefix}${name}`), preset, one.description ?? ""]];
  });
}

/** The properties that an object of a schema may have. */
export function propertiesOf(schema: JsonSchema | undefined): Readonly<Record<string, JsonSchema>> {
  const found: [string, JsonSchema][] = [];
  for (const [name, one] of Object.entries(schema?.properties ?? {}))
    if (typeof one === "object") found.push([name, one]);
  return Object.fromEntries(found);
}

/** A table of Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")).replaceAll(" ", ""), ...rows.map(line)];
}

/** A word of code in Markdown. */
export function code(text: string): string {
  return `\`${text}\``;
}
