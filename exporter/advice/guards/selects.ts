import type { PodDisruptionBudget } from "../../model/cluster.ts";
import type { TextMap } from "../../model/node.ts";
import { meets } from "../../model/queues/nodeMatch.ts";

/** The operators of a label selector; those of node affinity alone (`Gt`, `Lt`) are none of them. */
const operators: ReadonlySet<string> = new Set(["In", "NotIn", "Exists", "DoesNotExist"]);

/**
 * Whether a label selector takes labels (Kubernetes: `metav1.LabelSelector`): all of its parts must hold; an empty one takes
 * all. An operator that is not known is taken to hold, so that a budget protects rather too much.
 */
export function selects(
  { matchLabels, matchExpressions }: Pick<PodDisruptionBudget, "matchLabels" | "matchExpressions">,
  labels: TextMap,
): boolean {
  for (const key of Object.keys(matchLabels))
    if (!Object.hasOwn(labels, key) || labels[key] !== matchLabels[key]) return false;
  return matchExpressions.every((one) => !operators.has(one.operator) || meets(labels, one));
}
