import { bareRecord } from "../kernel/bareRecord.ts";
import { parseJson } from "../kernel/parseJson.ts";
import type { PodShape } from "../model/podShape.ts";
import type { LabelRequirement, PodNeeds, Toleration } from "../model/queues/podNeeds.ts";
import { isAmount } from "./isAmount.ts";

/** Shapes whose text is longer are not remembered: thousands of them must stay small. */
const maxTextLength = 8192;

const longerThanMax = "";

/** Pods that ask for the same mostly share one object, which is converted to text once. */
const needsTexts = new WeakMap<PodNeeds, string>();

/** A shape as JSON text, the same for shapes that ask for the same; `null` where it is too long. */
export function shapeText({ gpus, needs }: PodShape): string | null {
  const known = needsTexts.get(needs) ?? textOf(needs);
  needsTexts.set(needs, known);
  return known === longerThanMax ? null : `[${JSON.stringify(gpus)},${known}]`;
}

function textOf({ requests, nodeSelector, nodeAffinity, tolerations }: PodNeeds): string {
  const text = JSON.stringify([
    sorted(requests),
    sorted(nodeSelector),
    nodeAffinity.map((term) => term.map(({ key, operator, values }) => [key, operator, values])),
    tolerations.map(({ key, operator, value, effect }) => [key, operator, value, effect]),
  ]);
  return text.length > maxTextLength ? longerThanMax : text;
}

function sorted<Value>(record: Readonly<Record<string, Value>>): readonly (readonly [string, Value])[] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Reads the shape that `shapeText` wrote; `null` for any other text. */
export function shapeIn(text: string): PodShape | null {
  const [gpus, needs]: readonly unknown[] = listOf(parseJson(text));
  const [requests, nodeSelector, nodeAffinity, tolerations]: readonly unknown[] = listOf(needs);
  const found = {
    requests: recordOf(requests, isAmount),
    nodeSelector: recordOf(nodeSelector, isText),
    nodeAffinity: allOf(nodeAffinity, (term) => allOf(term, requirementIn)),
    tolerations: allOf(tolerations, tolerationIn),
  };
  if (!isAmount(gpus) || found.requests === null || found.nodeSelector === null) return null;
  if (found.nodeAffinity === null || found.tolerations === null) return null;
  return {
    gpus,
    needs: {
      requests: found.requests,
      nodeSelector: found.nodeSelector,
      nodeAffinity: found.nodeAffinity,
      tolerations: found.tolerations,
    },
  };
}

function requirementIn(value: unknown): LabelRequirement | null {
  const [key, operator, values]: readonly unknown[] = listOf(value);
  const texts = allOf(values, (text) => (isText(text) ? text : null));
  return isText(key) && isText(operator) && texts !== null ? { key, operator, values: texts } : null;
}

function tolerationIn(entry: unknown): Toleration | null {
  const [key, operator, value, effect]: readonly unknown[] = listOf(entry);
  if (!isText(key) || !isText(value) || !(effect === null || isText(effect))) return null;
  return operator === "Exists" || operator === "Equal" ? { key, operator, value, effect } : null;
}

/** All entries of a list; `null` if it is not a list, or one of them cannot be read. */
function allOf<Value>(list: unknown, read: (entry: unknown) => Value | null): readonly Value[] | null {
  if (!Array.isArray(list)) return null;
  const found: Value[] = [];
  for (const entry of list) {
    const value = read(entry);
    if (value === null) return null;
    found.push(value);
  }
  return found;
}

function recordOf<Value>(
  list: unknown,
  isValue: (value: unknown) => value is Value,
): Readonly<Record<string, Value>> | null {
  const record = bareRecord<Value>();
  const entries = allOf(list, (entry) => listOf(entry));
  for (const [key, value] of entries ?? []) {
    if (!isText(key) || !isValue(value)) return null;
    record[key] = value;
  }
  return entries === null ? null : record;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
