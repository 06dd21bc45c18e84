import { isRecord, type JsonRecord } from "../../kernel/parseJson.ts";

/**
 * A place in an object from outside: a record, its path, and the list of faults found so far. Reading never throws: a value of
 * the wrong type is noted as a fault and read as absent; `null` counts as absent.
 */
export interface Place {
  readonly value: JsonRecord;
  /** The place that contains this one; `null` for the object itself. The path is built only if there is a fault to report. */
  readonly within: Place | null;
  readonly key: string;
  /** Index of an entry of a list; -1 for anything else. */
  readonly index: number;
  readonly faults: string[];
}

const empty: JsonRecord = Object.freeze({});
const nothing: readonly Place[] = Object.freeze([]);

/** The place of a whole object from outside, without faults so far. */
export function placeOf(value: JsonRecord): Place {
  return { value, within: null, key: "", index: -1, faults: [] };
}

/** The path of a place for messages, such as `spec.containers[0]`; empty for the object itself. */
function pathTo({ within, key, index }: Place): string {
  if (within === null) return "";
  const path = pathOf(within, key);
  return index === -1 ? path : `${path}[${index}]`;
}

/** The path of a field, for messages. */
export function pathOf(place: Place, key: string): string {
  const at = pathTo(place);
  const step = /^\w+$/.test(key) ? key : `[${JSON.stringify(key.slice(0, 128))}]`;
  return at === "" || step.startsWith("[") ? `${at}${step}` : `${at}.${step}`;
}

/** Notes that a field does not have the expected content. */
export function fault(place: Place, key: string, expected: string): void {
  const found = place.value[key];
  const shown = typeof found === "object" ? (Array.isArray(found) ? "a list" : "an object") : JSON.stringify(found);
  place.faults.push(`${pathOf(place, key)} is ${String(shown).slice(0, 128)}, expected ${expected}`);
}

/** The record in a field; an empty one where the field is absent. */
export function child(place: Place, key: string): Place {
  const found = place.value[key];
  const isThere = isRecord(found);
  if (!isThere && found !== undefined && found !== null) fault(place, key, "an object");
  return { value: isThere ? found : empty, within: place, key, index: -1, faults: place.faults };
}

/** Whether a field has a value. */
export function has(place: Place, key: string): boolean {
  return place.value[key] !== undefined && place.value[key] !== null;
}

/** The records of a list field. */
export function items(place: Place, key: string): readonly Place[] {
  const found = place.value[key];
  if (found === undefined || found === null) return nothing;
  if (!Array.isArray(found)) {
    fault(place, key, "a list");
    return nothing;
  }
  const places: Place[] = [];
  for (let index = 0; index < found.length; index += 1) {
    const value: unknown = found[index];
    if (isRecord(value)) places.push({ value, within: place, key, index, faults: place.faults });
    else place.faults.push(`${pathOf(place, key)}[${index}] is not an object`);
  }
  return places;
}

/** The texts of a list field. */
export function textItems(place: Place, key: string): readonly string[] {
  const found = place.value[key];
  if (found === undefined || found === null) return [];
  if (Array.isArray(found) && found.every((entry) => typeof entry === "string")) return found;
  fault(place, key, "a list of texts");
  return [];
}

export function text(place: Place, key: string): string | null {
  const found = place.value[key];
  if (typeof found === "string") return found;
  if (found !== undefined && found !== null) fault(place, key, "text");
  return null;
}

export function number(place: Place, key: string): number | null {
  const found = place.value[key];
  if (typeof found === "number" && Number.isFinite(found)) return found;
  if (found !== undefined && found !== null) fault(place, key, "a number");
  return null;
}

/** A true-or-false field; absent is false. */
export function flag(place: Place, key: string): boolean {
  const found = place.value[key];
  if (typeof found === "boolean") return found;
  if (found !== undefined && found !== null) fault(place, key, "true or false");
  return false;
}

/** The result of `parse` for a field; `null` where the field is absent, or where `parse` returns `null`, which is a fault. */
export function parsed<Value>(
  place: Place,
  key: string,
  parse: (found: unknown) => Value | null,
  expected: string,
): Value | null {
  const found = place.value[key];
  if (found === undefined || found === null) return null;
  const value = parse(found);
  if (value === null) fault(place, key, expected);
  return value;
}

/** A time stamp (RFC 3339) as seconds since the epoch; `null` where it is absent. */
export function time(place: Place, key: string): number | null {
  return parsed(place, key, parseTime, "a time stamp");
}

function parseTime(found: unknown): number | null {
  const milliseconds = found instanceof Date ? found.getTime() : typeof found === "string" ? Date.parse(found) : NaN;
  return Number.isNaN(milliseconds) ? null : milliseconds / 1000;
}
