import type { ResourceAmounts } from "../model/node.ts";
import { nodeLabels } from "../model/wellKnown.ts";
import { canonicalModel, labelledModel, modelOfResources, unknownModel } from "./gpuModel.ts";
import { registeredModel } from "./gpuUnits.ts";
import { modelOfInstanceType } from "./instanceTypes.ts";
import type { InventoryInput } from "./inventory.ts";

/**
 * The model of a node's GPUs. The sources, in this order: the GPUs' own label, their driver, the machine, the page, and what
 * was known before.
 */
export function modelOfNode(input: InventoryInput, offered: ResourceAmounts): string {
  const { node, draDevices, remembered, page } = input;
  return (
    canonicalModel(node.labels[nodeLabels.gpuProduct]) ??
    draDevices.find((d) => d.model !== null)?.model ??
    modelOfInstanceType(node.labels[nodeLabels.instanceType]) ??
    page?.model ??
    (remembered?.models.length === 1 ? remembered.models[0] : null) ??
    labelledModel(node) ??
    canonicalModel(registeredModel(node)) ??
    modelOfResources(Object.keys(offered)) ??
    remembered?.models[0] ??
    unknownModel
  );
}
