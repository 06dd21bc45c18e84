import type { JsonValue } from "../../../exporter/model/recommendation.ts";
import { isArray, isObject, type JsonObject, sameJson } from "../../json.ts";

/** Lists that a strategic merge patch joins by a key of their entries, with this key; it replaces all others. */
const mergeKeys: Readonly<Record<string, string>> = {
  containers: "name",
  initContainers: "name",
  env: "name",
  volumes: "name",
  taints: "key",
  conditions: "type",
  ownerReferences: "uid",
};

/**
 * Applies a merge patch (RFC 7386). `strategic`: lists of named entries are joined by name, as the API server does for built-in
 * kinds.
 */
export function mergePatch(target: JsonValue | undefined, patch: JsonValue, strategic = false): JsonValue {
  if (!isObject(patch)) return patch;
  const merged = new Map<string, JsonValue>(isObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergeField(key, merged.get(key), value, strategic));
  }
  return fromEntries(merged);
}

function mergeField(key: string, target: JsonValue | undefined, patch: JsonValue, strategic: boolean): JsonValue {
  const by = strategic ? mergeKeys[key] : undefined;
  if (by === undefined || !isArray(patch)) return mergePatch(target, patch, strategic);
  const joined = [...(isArray(target) ? target : [])];
  for (const entry of patch) {
    if (!isObject(entry)) continue;
    const place = joined.findIndex((other) => isObject(other) && sameJson(other[by], entry[by]));
    const merged = mergePatch(joined[place], entry, strategic);
    if (entry.$patch === "delete") joined.splice(place, place < 0 ? 0 : 1);
    else if (place < 0) joined.push(merged);
    else joined[place] = merged;
  }
  return joined;
}

/** The merge patch that turns `from` into `to`; `undefined` when both are the same. Lists are replaced whole. */
export function mergeDifference(from: JsonValue | undefined, to: JsonValue | undefined): JsonValue | undefined {
  if (sameJson(from, to)) return undefined;
  if (to === undefined) return null;
  if (!isObject(from) || !isObject(to)) return to;
  const patch = new Map<string, JsonValue>();
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const difference = mergeDifference(from[key], Object.hasOwn(to, key) ? to[key] : undefined);
    if (difference !== undefined) patch.set(key, difference);
  }
  return fromEntries(patch);
}

/** An object whose keys cannot reach its prototype. */
function fromEntries(entries: ReadonlyMap<string, JsonValue>): JsonObject {
  return Object.fromEntries([...entries].filter(([key]) => key !== "__proto__"));
}
