import type { NodeView } from "../../join/snapshot.ts";
import type { Taint, TextMap } from "../../model/node.ts";
import type { LabelRequirement, PodNeeds, Toleration } from "../../model/queues/podNeeds.ts";

/** What a pod demands of its node's labels and taints. */
export type NodeRules = Pick<PodNeeds, "nodeSelector" | "nodeAffinity" | "tolerations">;

/** Taints that Kubernetes itself sets and takes away with the state of a node: they say what is so now, not whom a node is for. */
const statePrefix = "node.kubernetes.io/";

/** Whether the labels of a node satisfy node selector and required node affinity. */
export function labelsAllow(labels: TextMap, { nodeSelector, nodeAffinity }: NodeRules): boolean {
  for (const [key, value] of Object.entries(nodeSelector)) if (labelOf(labels, key) !== value) return false;
  if (nodeAffinity.length === 0) return true;
  // An empty term matches no node, as in Kubernetes.
  return nodeAffinity.some((term) => term.length > 0 && term.every((requirement) => satisfies(labels, requirement)));
}

/** Whether a node of this kind takes such pods, whatever state it is in now: labels, and the taints that people gave it. */
export function couldTake({ labels, taints }: Pick<NodeView, "labels" | "taints">, rules: NodeRules): boolean {
  return labelsAllow(labels, rules) && taints.every((taint) => isState(taint) || allows(taint, rules.tolerations));
}

/** Whether a node takes such pods now, by its labels and all its taints. */
export function takesNow({ labels, taints }: Pick<NodeView, "labels" | "taints">, rules: NodeRules): boolean {
  return labelsAllow(labels, rules) && taints.every((taint) => allows(taint, rules.tolerations));
}

const isState = ({ key }: Taint): boolean => key.startsWith(statePrefix);

function allows(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return taint.effect === "PreferNoSchedule" || tolerations.some((toleration) => tolerates(toleration, taint));
}

function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect !== null && effect !== taint.effect) return false;
  if (key === "") return operator === "Exists";
  return key === taint.key && (operator === "Exists" || value === taint.value);
}

function satisfies(labels: TextMap, { key, operator, values }: LabelRequirement): boolean {
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
      return compares(value, operator, values);
    default:
      return false;
  }
}

function compares(value: string | undefined, operator: "Gt" | "Lt", [bound]: readonly string[]): boolean {
  if (value === undefined || bound === undefined || !isInteger(value) || !isInteger(bound)) return false;
  return operator === "Gt" ? Number(value) > Number(bound) : Number(value) < Number(bound);
}

const isInteger = (text: string): boolean => /^-?\d{1,15}$/.test(text);

const labelOf = (labels: TextMap, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;
