import type { Taint, TextMap } from "../node.ts";
import type { LabelRequirement, PodNeeds, Toleration } from "./podNeeds.ts";

/** A toleration of all taints, for pods whose tolerations were not read. */
export const toleratesAll: readonly Toleration[] = [{ key: "", operator: "Exists", value: "", effect: null }];

/** Whether node selector and required affinity match labels. An empty term matches no node, as in Kubernetes. */
export function selects({ nodeSelector, nodeAffinity }: Omit<PodNeeds, "requests" | "tolerations">, labels: TextMap) {
  for (const key of Object.keys(nodeSelector)) if (labelOf(labels, key) !== nodeSelector[key]) return false;
  if (nodeAffinity.length === 0) return true;
  return nodeAffinity.some((term) => term.length > 0 && term.every((one) => meets(labels, one)));
}

/** Whether labels meet one requirement; an operator that does not exist is met by none. */
export function meets(labels: TextMap, { key, operator, values }: LabelRequirement): boolean {
  const value = labelOf(labels, key);
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
    case "Lt":
      return isBeyond(value, values[0], operator);
    default:
      return false;
  }
}

const labelOf = (labels: TextMap, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;

function isBeyond(value: string | undefined, bound: string | undefined, operator: "Gt" | "Lt"): boolean {
  if (value === undefined || bound === undefined || !isWhole(value) || !isWhole(bound)) return false;
  return operator === "Gt" ? Number(value) > Number(bound) : Number(value) < Number(bound);
}

const isWhole = (text: string): boolean => /^-?\d{1,15}$/.test(text);

/**
 * Taints that Kubernetes itself sets and removes with the state of a node: they describe the present, not the purpose of the
 * node.
 */
export const isStateTaint = ({ key }: Taint): boolean => key.startsWith(stateTaintPrefix);
const stateTaintPrefix = "node.kubernetes.io/";

/** Whether a taint keeps no pod out, or one of the tolerations covers it. */
export function isTolerated({ key, value, effect }: Taint, tolerations: readonly Toleration[]): boolean {
  return (
    effect === "PreferNoSchedule" ||
    tolerations.some(
      (one) =>
        (one.effect === null || one.effect === effect) &&
        (one.key === key || (one.key === "" && one.operator === "Exists")) &&
        (one.operator === "Exists" || one.value === value),
    )
  );
}
