import { z } from "zod";
import type { TextMap } from "../../model/node.ts";

/** Labels that tell the pods of one workload apart: kept, each pod would have labels of its own. */
export const perPodLabels: ReadonlySet<string> = new Set([
  "statefulset.kubernetes.io/pod-name",
  "apps.kubernetes.io/pod-index",
  "batch.kubernetes.io/job-completion-index",
  "batch.kubernetes.io/controller-uid",
  "controller-uid",
]);

/** Labels of a pod without GPUs as one text, without `perPodLabels`: the same for pods that are alike. */
export function labelsText(labels: TextMap): string {
  const kept = Object.keys(labels).filter((key) => !perPodLabels.has(key));
  return JSON.stringify(kept.sort().map((key) => [key, labels[key]]));
}

const pairs = z.array(z.tuple([z.string(), z.string()]));

/** The labels of such a text. */
export function labelsOf(text: string): TextMap {
  const labels: Record<string, string> = Object.create(null);
  for (const [key, value] of pairs.parse(JSON.parse(text))) labels[key] = value;
  return labels;
}
