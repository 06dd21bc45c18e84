import type { ClusterNode } from "../../model/node.ts";
import { annotationsOfNodes } from "./annotations.ts";
import { type Decoded, decodeObject } from "./decoded.ts";
import { child, flag, has, items, type Place, text, time } from "./fields.ts";
import { taints } from "./taints.ts";
import { amounts, quantity, textMap, wholeLabels } from "./textMap.ts";

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
