import type { PodDisruptionBudget } from "../../model/cluster.ts";
import type { TextMap } from "../../model/node.ts";
import { meets } from "../../model/queues/nodeMatch.ts";

/** The operators of a label selector; those of node affinity alone (`Gt`, `Lt`) are none of them. */
const operators: ReadonlySet<string> = new Set(["In", "NotIn", "Exists", "DoesNotExist"]);

/**
 * Whether a label selector matches labels (Kubernetes: `metav1.LabelSelector`): all of its parts must match; an empty one
 * matches everything. An unknown operator counts as a match, so that a budget protects too much rather than too little.
 */
export function selects(
  { matchLabels, matchExpressions }: Pick<PodDisruptionBudget, "matchLabels" | "matchExpressions">,
  labels: TextMap,
): boolean {
  for (const key of Object.keys(matchLabels))
    if (!Object.hasOwn(labels, key) || labels[key] !== matchLabels[key]) return false;
  return matchExpressions.every((one) => !operators.has(one.operator) || meets(labels, one));
}
