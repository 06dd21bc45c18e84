import type { JsonValue } from "../exporter/model/recommendation.ts";

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Whether a value is a JSON object, and neither an array nor null. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is a JSON array. */
export function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The value at a path of keys; `undefined` where the path leads nowhere. */
export function at(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  let found = value;
  for (const key of path) {
    if (isArray(found)) found = found[Number(key)];
    else if (isObject(found) && Object.hasOwn(found, key)) found = found[key];
    else return undefined;
  }
  return found;
}

/** A text at a path; `null` where there is none. */
export function textAt(value: JsonValue | undefined, ...path: readonly string[]): string | null {
  const found = at(value, ...path);
  return typeof found === "string" ? found : null;
}

/** A number at a path, also if it is written as a plain quantity (`"16"`); `null` where there is none. */
export function numberAt(value: JsonValue | undefined, ...path: readonly string[]): number | null {
  const found = at(value, ...path);
  const number = typeof found === "string" && found !== "" ? Number(found) : found;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

/** The entries of an array at a path; empty where there is none. */
export function itemsAt(value: JsonValue | undefined, ...path: readonly string[]): readonly JsonValue[] {
  const found = at(value, ...path);
  return isArray(found) ? found : [];
}

/** The texts at a path by key (labels, annotations); values that are not text are left out. */
export function textsAt(value: JsonValue | undefined, ...path: readonly string[]): Readonly<Record<string, string>> {
  const found = at(value, ...path);
  if (!isObject(found)) return {};
  const texts: Record<string, string> = {};
  for (const [key, text] of Object.entries(found)) {
    if (typeof text === "string" && key !== "__proto__") texts[key] = text;
  }
  return texts;
}

/** A plain value as JSON has it: a copy without what JSON cannot express. */
export function toJson(value: object): JsonValue {
  return JSON.parse(JSON.stringify(value));
}

/** Whether two JSON values are equal; the order of keys does not count. */
export function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (isArray(a)) return isArray(b) && a.length === b.length && a.every((item, i) => sameJson(item, b[i]));
  if (!isObject(a)) return a === b;
  if (!isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}
