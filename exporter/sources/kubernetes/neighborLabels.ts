import { z } from "zod";
import type { TextMap } from "../../model/node.ts";

/** Labels that distinguish the pods of one workload: kept, each pod would have labels of its own. */
export const perPodLabels: ReadonlySet<string> = new Set([
  "statefulset.kubernetes.io/pod-name",
  "apps.kubernetes.io/pod-index",
  "batch.kubernetes.io/job-completion-index",
  "batch.kubernetes.io/controller-uid",
  "controller-uid",
]);

/** Labels of a pod without GPUs as one text, without `perPodLabels`: the same for pods that are alike. */
export function labelsText(labels: TextMap): string {
  const kept: string[] = [];
  for (const key of sortedKeys(labels)) {
    const value = labels[key];
    if (value !== undefined && !perPodLabels.has(key)) kept.push(key, value);
  }
  return JSON.stringify(kept);
}

/** The API server sorts them: mostly there is nothing to do. */
function sortedKeys(labels: TextMap): readonly string[] {
  const keys = Object.keys(labels);
  return keys.every((key, index) => index === 0 || (keys[index - 1] ?? "") < key) ? keys : keys.sort();
}

const keysAndValues = z.array(z.string());

/** The labels of such a text. */
export function labelsOf(text: string): TextMap {
  const labels: Record<string, string> = Object.create(null);
  const parts = keysAndValues.parse(JSON.parse(text));
  for (let at = 0; at < parts.length; at += 2) labels[parts[at] ?? ""] = parts[at + 1] ?? "";
  return labels;
}
