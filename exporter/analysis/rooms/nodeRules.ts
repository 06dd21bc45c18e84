import type { NodeView } from "../../join/snapshot.ts";
import type { Taint } from "../../model/node.ts";
import { isTolerated, selects } from "../../model/queues/nodeMatch.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";

/** What a pod demands of its node's labels and taints. */
export type NodeRules = Pick<PodNeeds, "nodeSelector" | "nodeAffinity" | "tolerations">;

/** Taints that Kubernetes itself sets and takes away with the state of a node: they say what is so now, not whom a node is for. */
const statePrefix = "node.kubernetes.io/";

/** Whether a node of this kind takes such pods, whatever state it is in now: labels, and the taints that people gave it. */
export function couldTake({ labels, taints }: Pick<NodeView, "labels" | "taints">, rules: NodeRules): boolean {
  return selects(rules, labels) && taints.every((taint) => isState(taint) || isTolerated(taint, rules.tolerations));
}

/** Whether a node takes such pods now, by its labels and all its taints. */
export function takesNow({ labels, taints }: Pick<NodeView, "labels" | "taints">, rules: NodeRules): boolean {
  return selects(rules, labels) && taints.every((taint) => isTolerated(taint, rules.tolerations));
}

const isState = ({ key }: Taint): boolean => key.startsWith(statePrefix);
