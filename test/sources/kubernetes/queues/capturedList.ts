import { readFileSync } from "node:fs";
import { isRecord, type JsonRecord } from "../../../../exporter/kernel/parseJson.ts";
import type { Decoded } from "../../../../exporter/sources/kubernetes/decoded.ts";

/** The items of a list that a real API server gave (test/captured/SOURCES.md). */
export function capturedItems(name: string): readonly JsonRecord[] {
  const path = new URL(`../../../captured/queues/${name}.json`, import.meta.url);
  const list: unknown = JSON.parse(readFileSync(path, "utf8"));
  const items: unknown = isRecord(list) ? list.items : null;
  if (!Array.isArray(items) || items.length === 0) throw new Error(`${name} is no list with items`);
  return items.filter(isRecord);
}

/** The record; fails the test with the problem if there is none. */
export function recordOf<T>(decoded: Decoded<T>): T {
  if (!decoded.ok) throw new Error(decoded.problem.message);
  return decoded.value;
}

/**
 * The record whose name begins so, and the object that it was read from: names end in what the controllers made up, and
 * times are those of the recording.
 */
export function capturedRow<T extends { readonly name: string }>(
  list: string,
  name: string,
  decode: (value: unknown) => Decoded<T>,
): { readonly row: T; readonly object: JsonRecord } {
  for (const object of capturedItems(list)) {
    const row = recordOf(decode(object));
    if (row.name.startsWith(name)) return { row, object };
  }
  throw new Error(`${list} has no ${name}`);
}

/** What is at a path of an object; `undefined` where nothing does. */
export function valueAt(object: unknown, ...path: readonly (string | number)[]): unknown {
  let place: unknown = object;
  for (const step of path) {
    if (Array.isArray(place)) {
      const entries: readonly unknown[] = place;
      place = entries[Number(step)];
    } else place = isRecord(place) ? place[step] : undefined;
  }
  return place;
}

/** Seconds since the epoch of a time stamp at a path of an object. */
export function timeAt(object: unknown, ...path: readonly (string | number)[]): number {
  const seconds = Date.parse(String(valueAt(object, ...path))) / 1000;
  if (Number.isNaN(seconds)) throw new Error(`no time at ${path.join(".")}`);
  return seconds;
}
