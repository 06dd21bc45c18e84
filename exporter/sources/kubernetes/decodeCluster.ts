import type { Namespace, PodDisruptionBudget, PriorityClass } from "../../model/cluster.ts";
import type { ClusterNode } from "../../model/node.ts";
import {
  amounts,
  annotationsOfNamespaces,
  annotationsOfNodes,
  quantity,
  textMap,
  wholeLabels,
} from "./boundedFields.ts";
import { type Decoded, decodeObject } from "./decoded.ts";
import { child, flag, has, items, number, type Place, text, textItems, time } from "./fields.ts";
import { taints } from "./nodeRules.ts";

/** A Node (`v1`) as a model record. */
export function decodeNode(value: unknown): Decoded<ClusterNode> {
  return decodeObject("Node", value, (object, meta) => {
    const metadata = child(object, "metadata");
    const spec = child(object, "spec");
    const status = child(object, "status");
    const allocatable = child(status, "allocatable");
    return {
      name: meta.name,
      uid: meta.uid,
      bootId: text(child(status, "nodeInfo"), "bootID") ?? "",
      createdAt: meta.createdAt,
      labels: textMap(metadata, "labels", wholeLabels),
      annotations: textMap(metadata, "annotations", annotationsOfNodes),
      taints: taints(spec, "taints"),
      unschedulable: flag(spec, "unschedulable"),
      ...readiness(status),
      capacity: amounts(status, "capacity", isExtended),
      allocatable: has(status, "allocatable") ? amounts(status, "allocatable", isExtended) : null,
      allocatableCpuMilli: quantity(allocatable, "cpu", 3) ?? 0,
      allocatableMemoryBytes: quantity(allocatable, "memory") ?? 0,
      providerId: text(spec, "providerID") ?? "",
    };
  });
}

function isExtended(name: string): boolean {
  return name.includes("/");
}

function readiness(status: Place): Pick<ClusterNode, "ready" | "readyChangedAt"> {
  const condition = items(status, "conditions").find((candidate) => text(candidate, "type") === "Ready");
  if (condition === undefined) return { ready: null, readyChangedAt: null };
  return { ready: text(condition, "status") === "True", readyChangedAt: time(condition, "lastTransitionTime") };
}

/** A Namespace (`v1`) as a model record. */
export function decodeNamespace(value: unknown): Decoded<Namespace> {
  return decodeObject("Namespace", value, (object, meta) => {
    const metadata = child(object, "metadata");
    return {
      name: meta.name,
      labels: textMap(metadata, "labels", wholeLabels),
      annotations: textMap(metadata, "annotations", annotationsOfNamespaces),
    };
  });
}

/** A PriorityClass (`scheduling.k8s.io/v1`) as a model record. */
export function decodePriorityClass(value: unknown): Decoded<PriorityClass> {
  return decodeObject("PriorityClass", value, (object, meta) => ({
    name: meta.name,
    value: number(object, "value") ?? 0,
    globalDefault: flag(object, "globalDefault"),
  }));
}

/**
 * A PodDisruptionBudget (`policy/v1`) as a model record. An empty selector selects every pod of the namespace; a budget without
 * a selector selects none, which is kept as an expression that no pod matches.
 */
export function decodePodDisruptionBudget(value: unknown): Decoded<PodDisruptionBudget> {
  return decodeObject("PodDisruptionBudget", value, (object, meta) => {
    const spec = child(object, "spec");
    const selector = child(spec, "selector");
    const status = child(object, "status");
    const expressions = items(selector, "matchExpressions").map((expression) => ({
      key: text(expression, "key") ?? "",
      operator: text(expression, "operator") ?? "",
      values: textItems(expression, "values"),
    }));
    return {
      namespace: meta.namespace,
      name: meta.name,
      matchLabels: textMap(selector, "matchLabels", wholeLabels),
      matchExpressions: has(spec, "selector") ? expressions : [selectsNothing],
      // The API server fills the field with 0 until the controller has processed the budget for the first time.
      disruptionsAllowed: has(status, "observedGeneration") ? number(status, "disruptionsAllowed") : null,
    };
  });
}

const selectsNothing = { key: "", operator: "In", values: [] } as const;
