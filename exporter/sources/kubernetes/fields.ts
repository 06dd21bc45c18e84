/** A JSON object of unknown content. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/**
 * A place in an object from outside: a record, where it stands, and the list of faults found so far. Reading never
 * throws: a value of the wrong type is noted as a fault and read as absent; `null` is absent.
 */
export interface Place {
  readonly value: JsonRecord;
  /** Path such as `spec.containers[0]`; empty for the object itself. */
  readonly at: string;
  readonly faults: string[];
}

const empty: JsonRecord = Object.freeze({});
const nothing: readonly Place[] = Object.freeze([]);

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The path of a field, for messages. */
export function pathOf(place: Place, key: string): string {
  const step = /^\w+$/.test(key) ? key : `[${JSON.stringify(key.slice(0, 128))}]`;
  return place.at === "" || step.startsWith("[") ? `${place.at}${step}` : `${place.at}.${step}`;
}

/** Notes that a field is not what it should be. */
export function fault(place: Place, key: string, expected: string): void {
  const found = place.value[key];
  const shown = typeof found === "object" ? (Array.isArray(found) ? "a list" : "an object") : JSON.stringify(found);
  place.faults.push(`${pathOf(place, key)} is ${String(shown).slice(0, 128)}, expected ${expected}`);
}

/** The record in a field; an empty one where the field is absent. */
export function child(place: Place, key: string): Place {
  const found = place.value[key];
  const at = place.at === "" ? key : `${place.at}.${key}`;
  if (isRecord(found)) return { value: found, at, faults: place.faults };
  if (found !== undefined && found !== null) fault(place, key, "an object");
  return { value: empty, at, faults: place.faults };
}

/** Whether a field holds something. */
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
  for (const [index, entry] of found.entries()) {
    const at = `${place.at === "" ? key : `${place.at}.${key}`}[${index}]`;
    if (isRecord(entry)) places.push({ value: entry, at, faults: place.faults });
    else place.faults.push(`${at} is not an object`);
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

/** A time stamp (RFC 3339) as seconds since the epoch. */
export function time(place: Place, key: string): number | null {
  const found = place.value[key];
  if (found === undefined || found === null) return null;
  const milliseconds = found instanceof Date ? found.getTime() : typeof found === "string" ? Date.parse(found) : NaN;
  if (!Number.isNaN(milliseconds)) return milliseconds / 1000;
  fault(place, key, "a time stamp");
  return null;
}
