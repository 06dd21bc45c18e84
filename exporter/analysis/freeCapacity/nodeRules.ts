import type { NodeView } from "../../join/snapshot.ts";
import type { GpuVendor } from "../../model/gpuResource.ts";
import type { TextMap } from "../../model/node.ts";
import { isStateTaint, isTolerated, selects } from "../../model/queues/nodeMatch.ts";
import type { LabelRequirement, PodNeeds } from "../../model/queues/podNeeds.ts";
import { gpuModelLabels, nodeLabels } from "../../model/wellKnown.ts";
import { vendorAsked } from "./podDemand.ts";

type RuledNode = Pick<NodeView, "labels" | "taints" | "vendor">;

/**
 * Whether a node of this kind allows pods with these rules, by labels and the taints that people set, whatever its present
 * state.
 */
export function couldTake({ labels, taints, vendor }: RuledNode, rules: PodNeeds): boolean {
  return (
    isOfVendor(vendor, rules) &&
    selects(rules, labels) &&
    taints.every((taint) => isStateTaint(taint) || isTolerated(taint, rules.tolerations))
  );
}

/** Whether a node allows pods with these rules now, by its labels and all its taints. */
export function takesNow({ labels, taints, vendor }: RuledNode, rules: PodNeeds): boolean {
  return (
    isOfVendor(vendor, rules) &&
    selects(rules, labels) &&
    taints.every((taint) => isTolerated(taint, rules.tolerations))
  );
}

/** Whether the accelerators are of the vendor that pods ask for: those of one vendor are never used for another's. */
function isOfVendor(vendor: GpuVendor | undefined, rules: PodNeeds): boolean {
  if (vendor === undefined) return true;
  const asked = vendorAsked(rules);
  return asked === null || asked === vendor;
}

const modelLabels: ReadonlySet<string> = new Set([...gpuModelLabels, nodeLabels.gpuFamily]);

const namesModel = (label: string): boolean => modelLabels.has(label);

/** What pods demand of labels that name the model of the GPUs, and of no others; the same object where that is all. */
export const onlyModelLabels = (needs: PodNeeds): PodNeeds => withLabels(needs, namesModel);

/** What pods demand of all other labels; the same object where they demand no model. */
export const withoutModelLabels = (needs: PodNeeds): PodNeeds => withLabels(needs, (label) => !namesModel(label));

/** Keeps only the demands on some labels. A term of the affinity that has no such demand allows every node. */
function withLabels(needs: PodNeeds, isKept: (label: string) => boolean): PodNeeds {
  const { nodeSelector, nodeAffinity } = needs;
  const isWhole = Object.keys(nodeSelector).every(isKept) && nodeAffinity.flat().every(({ key }) => isKept(key));
  if (isWhole) return needs;
  return { ...needs, nodeSelector: labelsOf(nodeSelector, isKept), nodeAffinity: termsOf(nodeAffinity, isKept) };
}

const labelsOf = (labels: TextMap, isKept: (label: string) => boolean): TextMap =>
  Object.fromEntries(Object.entries(labels).filter(([label]) => isKept(label)));

function termsOf(
  terms: PodNeeds["nodeAffinity"],
  isKept: (label: string) => boolean,
): readonly (readonly LabelRequirement[])[] {
  const kept = terms.map((term) => term.filter(({ key }) => isKept(key)));
  return kept.some((term) => term.length === 0) ? [] : kept;
}
