import type { ClusterNode } from "../model/node.ts";
import { nodeLabels } from "../model/wellKnown.ts";
import { labelledModel } from "./gpuModel.ts";
import { isGpuInstanceType } from "./witnesses.ts";

const presenceLabels: readonly (readonly [label: string, value: string])[] = [
  [nodeLabels.gpuPresent, "true"],
  [nodeLabels.aksAccelerator, "nvidia"],
  [nodeLabels.nfdNvidia, "true"],
  [nodeLabels.nfdNvidiaDisplay, "true"],
  [nodeLabels.nfdNvidia3d, "true"],
];

/** Whether there is any sign that a node has GPUs, although nothing counts them. */
export function signsOfGpu(node: ClusterNode, offered: Readonly<Record<string, number>>): boolean {
  const { labels } = node;
  return (
    Object.keys(offered).length > 0 ||
    presenceLabels.some(([label, value]) => labels[label] === value) ||
    labelledModel(node) !== null ||
    isGpuInstanceType(labels[nodeLabels.instanceType])
  );
}
