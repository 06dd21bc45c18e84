import { z } from "zod";
import type { TextMap } from "../../model/node.ts";
import { podLabels } from "../../model/wellKnown.ts";
import { textMap, wholeLabels } from "./boundedFields.ts";
import { child, type Place } from "./fields.ts";

/**
 * The greatest number of labels that are kept of a pod or its owner; all of them are kept up to this number and total length.
 * Kubernetes bounds neither, and anybody who can create pods writes them: 14,000 pods with 250 labels each took 390 MB. Any key
 * may be one that a selector of the cluster names (budgets, affinity, topology spread), now or later, so nothing is left out
 * below these bounds, which are twice as large as what generators of workloads write.
 */
export const maxLabels = 48;

/** The greatest number of characters of all keys and values together. */
export const maxLabelChars = 4096;

const readByName: ReadonlySet<string> = new Set<string>([
  ...Object.values(podLabels),
  "volcano.sh/preemptable",
  "pod-template-hash",
]);
const noLabels: ReadonlySet<string> = new Set();

/** Labels within the bounds, and whether some had to be left out. */
export interface KeptLabels {
  readonly labels: TextMap;
  readonly isCut: boolean;
}

/**
 * The labels of an object. If they exceed the bounds, those that Fairlead reads by name and `configured` ones are kept first,
 * then the others in the order of their names.
 */
export function keptLabels(metadata: Place, configured: ReadonlySet<string> = noLabels): KeptLabels {
  const { value } = child(metadata, "labels");
  const names = Object.keys(value);
  const lengthOf = (name: string): number => name.length + (typeof value[name] === "string" ? value[name].length : 0);
  const chars = names.reduce((sum, name) => sum + lengthOf(name), 0);
  if (names.length <= maxLabels && chars <= maxLabelChars)
    return { labels: textMap(metadata, "labels", wholeLabels), isCut: false };
  const isRead = (name: string): boolean => readByName.has(name) || configured.has(name);
  const kept = new Set<string>();
  let left = maxLabelChars;
  for (const name of [...names.filter(isRead), ...names.filter((name) => !isRead(name)).sort()]) {
    if (kept.size === maxLabels) break;
    if (lengthOf(name) > left) continue;
    left -= lengthOf(name);
    kept.add(name);
  }
  return { labels: textMap(metadata, "labels", { ...wholeLabels, keep: (name) => kept.has(name) }), isCut: true };
}

/** Labels that distinguish the pods of one workload. If they were kept, each pod would have its own set of labels. */
export const perPodLabels: ReadonlySet<string> = new Set([
  "statefulset.kubernetes.io/pod-name",
  "apps.kubernetes.io/pod-index",
  "batch.kubernetes.io/job-completion-index",
  "batch.kubernetes.io/controller-uid",
  "controller-uid",
]);

/** The labels of a pod without GPUs as one text, without `perPodLabels`, so that pods that are alike have the same text. */
export function labelsText(labels: TextMap): string {
  const kept: string[] = [];
  for (const key of sortedKeys(labels)) {
    const value = labels[key];
    if (value !== undefined && !perPodLabels.has(key)) kept.push(key, value);
  }
  return JSON.stringify(kept);
}

/** The names in order. The API server sorts them, so there is mostly nothing to do. */
function sortedKeys(labels: TextMap): readonly string[] {
  const keys = Object.keys(labels);
  return keys.every((key, index) => index === 0 || (keys[index - 1] ?? "") < key) ? keys : keys.sort();
}

const keysAndValues = z.array(z.string());

/** The labels in a text that `labelsText` made. */
export function labelsOf(text: string): TextMap {
  const labels: Record<string, string> = Object.create(null);
  const parts = keysAndValues.parse(JSON.parse(text));
  for (let at = 0; at < parts.length; at += 2) labels[parts[at] ?? ""] = parts[at + 1] ?? "";
  return labels;
}
