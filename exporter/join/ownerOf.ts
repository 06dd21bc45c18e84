import type { OwnerRule } from "../config/digestSchema.ts";
import { matchesPattern } from "../kernel/namePattern.ts";
import type { TextMap } from "../model/node.ts";

/**
 * The owner that a pod, or else its workload, names in a label; `null` where neither does. Authors write their own labels: a
 * value counts only where the configuration allows it, or else any author could direct messages to any person.
 */
export function ownerOf(
  { label, allowed }: OwnerRule,
  namespace: string,
  podLabels: TextMap,
  workloadLabels: TextMap = {},
): string | null {
  for (const value of [podLabels[label], workloadLabels[label]]) {
    if (value === undefined) continue;
    if (allowed.some((one) => matchesPattern(one.namespace, namespace) && one.owners.includes(value))) return value;
  }
  return null;
}
