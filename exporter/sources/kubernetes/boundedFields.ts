import { bareRecord } from "../../kernel/bareRecord.ts";
import { parseTimeStamp } from "../../kernel/isoTime.ts";
import { parseAmount, parseDuration, parseQuantity } from "../../kernel/quantity.ts";
import type { ResourceAmounts, TextMap } from "../../model/node.ts";
import type { Condition } from "../../model/queues/condition.ts";
import type { ObjectRevision } from "../../model/queues/objectRevision.ts";
import { checkpointAnnotations, isContainerShare, nodeAnnotations, podAnnotations } from "../../model/wellKnown.ts";
import { child, fault, has, items, number, type Place, parsed, text, time } from "./fields.ts";

/** The limits on what is kept from a map of labels or annotations. */
export interface TextMapLimits {
  readonly keep: (key: string) => boolean;
  /** Longer values are cut. */
  readonly maxValueChars: number;
}

/**
 * The greatest number of entries that are kept of one list or map. No real object has more of what is read with this, and the
 * text is untrusted.
 */
const maxEntries = 256;

/** Limits with which all labels are kept. In Kubernetes a value has at most 63 characters, but files may contain anything. */
export const wholeLabels: TextMapLimits = { keep: () => true, maxValueChars: 256 };

/** Copies a map of texts within limits. The copy has no prototype, so that no key has a special meaning. */
export function textMap(place: Place, key: string, limits: TextMapLimits): TextMap {
  const source = child(place, key);
  const copy = bareRecord<string>();
  let entries = 0;
  for (const name of Object.keys(source.value)) {
    if (name === "__proto__" || !limits.keep(name)) continue;
    const value = source.value[name];
    if (typeof value !== "string") {
      fault(source, name, "text");
      continue;
    }
    if (entries === maxEntries) break;
    entries += 1;
    copy[name] = value.length <= limits.maxValueChars ? value : cut(value, limits.maxValueChars);
  }
  return copy;
}

/** The beginning of a text. It is a copy, since a slice would keep the whole text in memory. */
export function cut(value: string, chars: number): string {
  return Buffer.from(value.slice(0, chars)).toString();
}

/** Copies a map of quantities as numbers of base units, only for names that `keep` accepts. */
export function amounts(place: Place, key: string, keep: (name: string) => boolean): ResourceAmounts {
  const source = child(place, key);
  const copy = bareRecord<number>();
  for (const name of Object.keys(source.value)) {
    if (name === "__proto__" || !keep(name)) continue;
    const amount = parseQuantity(source.value[name]);
    if (amount === null) fault(source, name, "a quantity");
    else copy[name] = amount;
  }
  return copy;
}

/** One quantity of a map, in units of 10^-`decimals`; `null` where it is absent. */
export function quantity(place: Place, key: string, decimals = 0): number | null {
  return parsed(place, key, (found) => parseQuantity(found, decimals), "a quantity");
}

const ownPrefix = "fairlead.dev/";
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

const podNames: ReadonlySet<string> = new Set(Object.values(podAnnotations));
const nodeNames: ReadonlySet<string> = new Set(Object.values(nodeAnnotations));

/** The annotations that are kept of pods and of their owners. */
export const annotationsOfPods: TextMapLimits = {
  keep: (key) => podNames.has(key) || key.startsWith(ownPrefix) || isContainerShare(key),
  maxValueChars: 4096,
};

/** The annotations that are kept of nodes. */
export const annotationsOfNodes: TextMapLimits = {
  keep: (key) => nodeNames.has(key),
  maxValueChars: 4096,
};

/** The annotations that are kept of namespaces: team rules may name any. */
export const annotationsOfNamespaces: TextMapLimits = {
  keep: (key) => key !== lastApplied,
  maxValueChars: 1024,
};

/** The longest name that the API allows. */
const maxNameChars = 253;
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

/** The records of a list, up to a number that no real object exceeds. */
export function someItems(place: Place, key: string, max = maxEntries): readonly Place[] {
  return items(place, key).slice(0, max);
}

/** One quantity in base units, including fractions; `null` where it is absent. */
export function amount(place: Place, key: string): number | null {
  return parsed(place, key, parseAmount, "a quantity");
}

/** A duration in seconds; `null` where it is absent. */
export function duration(place: Place, key: string): number | null {
  return parsed(place, key, parseDuration, "a duration");
}

/** A map of quantities in base units, including fractions, only for names that `keep` accepts. It has no prototype. */
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

/** Like `amountMap`; `null` where the object has no map in this field. */
export function optionalAmounts(place: Place, key: string): ResourceAmounts | null {
  return has(place, key) ? amountMap(place, key) : null;
}

/**
 * The time stamp (RFC 3339) in an annotation, seconds since the epoch. Annotations are free text that no API server checks, so
 * anything that is no time stamp counts as absent: otherwise people could have an object left out by writing nonsense.
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

/** The greatest number of conditions that are read; no object has more. */
const maxConditions = 32;
/** The greatest numbers of characters that are kept of a reason, and of a message. */
export const maxReasonChars = 100;
export const maxMessageChars = 500;

/**
 * The conditions in `status.conditions` of types that `keep` accepts. The schedulers' own forms of a condition share these
 * fields.
 */
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
