import { stringify } from "yaml";
import type { Expression } from "./expression.ts";
import { isConstant, isExpression, isList, isOptional, isSpread } from "./part.ts";
import type { Constant, Part, PartList, PartMap } from "./template.ts";

/** A template as a file of a Helm chart: YAML in which expressions stand in braces. */
export function goTemplate(part: Part, when: Expression<boolean> | null): string {
  const lines = isConstant(part) || isExpression(part) ? [inline(part)] : block(part, 0);
  const guarded = when === null ? lines : [`{{- if ${when.pipeline} }}`, ...lines, "{{- end }}"];
  return `${guarded.join("\n")}\n`;
}

const spaces = (depth: number): string => "  ".repeat(depth);

function block(part: Part, depth: number): readonly string[] {
  if (isConstant(part) || isExpression(part)) return [`${spaces(depth)}${inline(part)}`];
  if (isOptional(part)) return block(part.value, depth);
  if (isList(part)) return listLines(part, depth);
  return isSpread(part) ? spreadLines(part.items, depth) : mapLines(part, depth);
}

function mapLines(map: PartMap, depth: number): readonly string[] {
  return Object.entries(map).flatMap(([name, field]) =>
    isOptional(field) ? guarded(field.when, fieldLines(name, field.value, depth)) : fieldLines(name, field, depth),
  );
}

function fieldLines(name: string, field: Part, depth: number): readonly string[] {
  const key = `${spaces(depth)}${scalar(name)}:`;
  if (isConstant(field)) return [`${key} ${scalar(field)}`];
  if (isExpression(field)) return expressionLines(key, field, depth + 1);
  if (isEmpty(field)) return [`${key} ${isList(field) ? "[]" : "{}"}`];
  return [key, ...block(field, depth + 1)];
}

/** A map or list stands below its key, whatever it comes to: `{}` and `[]` may stand on a line of their own. */
function expressionLines(key: string, of: Expression<unknown>, depth: number): readonly string[] {
  if (of.shape === "scalar") return [`${key} ${inline(of)}`];
  if (of.shape === "text") return [`${key} |`, `{{ ${of.pipeline} | indent ${2 * depth} }}`];
  return [key, `{{ ${of.pipeline} | toYaml | indent ${2 * depth} }}`];
}

function listLines(list: PartList, depth: number): readonly string[] {
  return list.flatMap((item) => {
    if (isSpread(item)) return spreadLines(item.items, depth);
    return isOptional(item) ? guarded(item.when, itemLines(item.value, depth)) : itemLines(item, depth);
  });
}

/** The first field stands beside the dash, unless a condition stands before it. */
function itemLines(item: Part, depth: number): readonly string[] {
  const dash = `${spaces(depth)}-`;
  if (isConstant(item) || isExpression(item)) return [`${dash} ${inline(item)}`];
  const [first, ...rest] = block(item, depth + 1);
  if (first === undefined) return [`${dash} {}`];
  return first.startsWith("{{") ? [dash, first, ...rest] : [`${dash} ${first.trimStart()}`, ...rest];
}

function spreadLines(items: Expression<unknown>, depth: number): readonly string[] {
  return [`{{- with ${items.pipeline} }}`, `{{ toYaml . | indent ${2 * depth} }}`, "{{- end }}"];
}

function guarded(when: Expression<boolean>, lines: readonly string[]): readonly string[] {
  return [`{{- if ${when.pipeline} }}`, ...lines, "{{- end }}"];
}

function inline(part: Constant | Expression<unknown>): string {
  return isExpression(part) ? `{{ ${part.pipeline} | toJson }}` : scalar(part);
}

/** A constant in YAML. Braces of a template must not stand in one. */
function scalar(of: Constant): string {
  if (typeof of === "string" && of.includes("{{")) throw new Error(`a constant of a template has braces: ${of}`);
  return stringify(of, { lineWidth: 0, defaultStringType: "PLAIN", version: "1.1" }).trimEnd();
}

function isEmpty(part: Part): boolean {
  return isList(part) ? part.length === 0 : Object.keys(Object(part)).length === 0;
}
