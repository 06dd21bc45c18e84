import type { NodeView } from "../../join/snapshot.ts";
import type { GpuVendor } from "../../model/gpuResource.ts";
import { isStateTaint, isTolerated, selects } from "../../model/queues/nodeMatch.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import { vendorAsked } from "./podDemand.ts";

type RuledNode = Pick<NodeView, "labels" | "taints" | "vendor">;

/** Whether a node of this kind takes such pods, whatever its present state: labels, and the taints that people gave it. */
export function couldTake({ labels, taints, vendor }: RuledNode, rules: PodNeeds): boolean {
  return (
    isOfVendor(vendor, rules) &&
    selects(rules, labels) &&
    taints.every((taint) => isStateTaint(taint) || isTolerated(taint, rules.tolerations))
  );
}

/** Whether a node takes such pods now, by its labels and all its taints. */
export function takesNow({ labels, taints, vendor }: RuledNode, rules: PodNeeds): boolean {
  return (
    isOfVendor(vendor, rules) &&
    selects(rules, labels) &&
    taints.every((taint) => isTolerated(taint, rules.tolerations))
  );
}

/** Accelerators of one vendor are never used for another's. */
function isOfVendor(vendor: GpuVendor | undefined, rules: PodNeeds): boolean {
  if (vendor === undefined) return true;
  const asked = vendorAsked(rules);
  return asked === null || asked === vendor;
}
