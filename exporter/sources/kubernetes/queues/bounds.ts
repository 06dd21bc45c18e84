import { bareRecord } from "../../../kernel/bareRecord.ts";
import { parseTimeStamp } from "../../../kernel/timeStamp.ts";
import type { ResourceAmounts } from "../../../model/node.ts";
import type { Condition } from "../../../model/queues/condition.ts";
import type { ObjectRevision } from "../../../model/queues/objectRevision.ts";
import { checkpointAnnotations } from "../../../model/wellKnown.ts";
import { child, fault, has, items, number, type Place, text, time } from "../fields.ts";
import { parseAmount } from "../quantity.ts";
import { cut } from "../textMap.ts";

/** The longest name that the API allows. */
const maxNameChars = 253;
/** Entries kept of one list or map: no real object has more of what is read with this. */
const maxEntries = 256;

/** A text of at most this many characters; empty if it is absent. */
export function shortText(place: Place, key: string, maxChars: number): string {
  const found = text(place, key) ?? "";
  return found.length <= maxChars ? found : cut(found, maxChars);
}

/** The name of something; empty where it is absent. */
export function nameText(place: Place, key: string): string {
  return shortText(place, key, maxNameChars);
}

/** The name of something; `null` where it is absent or empty. */
export function optionalName(place: Place, key: string): string | null {
  const found = nameText(place, key);
  return found === "" ? null : found;
}

/** The records of a list, not more than any real object has. */
export function someItems(place: Place, key: string, max = maxEntries): readonly Place[] {
  return items(place, key).slice(0, max);
}

/** One quantity in base units with its fraction; `null` where it is absent. */
export function amount(place: Place, key: string): number | null {
  const found = place.value[key];
  if (found === undefined || found === null) return null;
  const read = parseAmount(found);
  if (read === null) fault(place, key, "a quantity");
  return read;
}

/** A map of quantities in base units with their fractions, without a prototype; only names that `keep` accepts. */
export function amountMap(place: Place, key: string, keep: (name: string) => boolean = () => true): ResourceAmounts {
  const source = child(place, key);
  const copy = bareRecord<number>();
  let entries = 0;
  for (const name of Object.keys(source.value)) {
    if (name === "__proto__" || !keep(name)) continue;
    const read = amount(source, name);
    if (read === null) continue;
    if (entries === maxEntries) break;
    entries += 1;
    copy[name.length <= maxNameChars ? name : cut(name, maxNameChars)] = read;
  }
  return copy;
}

/** As `amountMap`; `null` where the object has no such map. */
export function optionalAmounts(place: Place, key: string): ResourceAmounts | null {
  return has(place, key) ? amountMap(place, key) : null;
}

/**
 * The time stamp (RFC 3339) in an annotation, seconds since the epoch. Annotations are free text that no API server
 * checks: what is no time stamp counts as absent, so that nobody can have an object left out by writing nonsense.
 */
export function annotationTime(object: Place, name: string): number | null {
  return parseTimeStamp(annotation(object, name));
}

/** The text of an annotation; `null` where it is absent. */
export function annotation(object: Place, name: string): string | null {
  const annotations = child(child(object, "metadata"), "annotations").value;
  const found = Object.hasOwn(annotations, name) ? annotations[name] : undefined;
  return typeof found === "string" ? found : null;
}

/** The last checkpoint that an object reports, seconds since the epoch; `null` if it reports none. */
export function checkpointTime(object: Place): number | null {
  let latest: number | null = null;
  for (const name of checkpointAnnotations) {
    const at = annotationTime(object, name);
    if (at !== null && (latest === null || at > latest)) latest = at;
  }
  return latest;
}

/** The revision of an object that was read; `null` if it has none, as in hand-written files. */
export function revisionOf(object: Place): ObjectRevision | null {
  const metadata = child(object, "metadata");
  const uid = text(metadata, "uid") ?? "";
  const apiVersion = text(object, "apiVersion") ?? "";
  if (uid === "" || apiVersion === "") return null;
  return { apiVersion, uid, generation: number(metadata, "generation") };
}

/** More than any object has. */
const maxConditions = 32;
/** What is kept of a reason, and of a message. */
export const maxReasonChars = 100;
export const maxMessageChars = 500;

/** `status.conditions`, only of types that `keep` accepts; the schedulers' own shapes of a condition share these fields. */
export function conditions(status: Place, keep: (type: string) => boolean = () => true): readonly Condition[] {
  return someItems(status, "conditions", maxConditions).flatMap((entry) => {
    const type = shortText(entry, "type", maxReasonChars);
    return keep(type) ? [condition(entry, type)] : [];
  });
}

function condition(entry: Place, type: string): Condition {
  return {
    type,
    isTrue: text(entry, "status") === "True",
    reason: shortText(entry, "reason", maxReasonChars),
    message: shortText(entry, "message", maxMessageChars),
    changedAt: time(entry, "lastTransitionTime"),
  };
}

/** The condition of a type; `null` where the object does not have it. */
export function conditionOf(all: readonly Condition[], type: string): Condition | null {
  return all.find((candidate) => candidate.type === type) ?? null;
}
