import type { PodDisruptionBudget } from "../../model/cluster.ts";
import type { TextMap } from "../../model/node.ts";

type Selector = Pick<PodDisruptionBudget, "matchLabels" | "matchExpressions">;

/**
 * Whether a label selector takes labels (Kubernetes: `metav1.LabelSelector`): all of its parts must hold; an empty one takes
 * all. An operator that is not known is taken to hold, so that a budget protects rather too much.
 */
export function selects({ matchLabels, matchExpressions }: Selector, labels: TextMap): boolean {
  for (const [key, value] of Object.entries(matchLabels)) if (labelValue(labels, key) !== value) return false;
  return matchExpressions.every((expression) => holds(expression, labelValue(labels, expression.key)));
}

function holds({ operator, values }: Selector["matchExpressions"][number], value: string | undefined): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return true;
  }
}

const labelValue = (labels: TextMap, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;
