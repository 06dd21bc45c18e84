import { createDataSharer } from "../../kernel/sharedData.ts";
import type { Taint } from "../../model/node.ts";
import type { LabelRequirement, PodNeeds, Toleration } from "../../model/queues/podNeeds.ts";
import { nameText, someItems } from "./boundedFields.ts";
import { child, items, type Place, text, textItems } from "./fields.ts";

type NodeAffinity = PodNeeds["nodeAffinity"];
type Tolerations = PodNeeds["tolerations"];

const sharedAffinity = createDataSharer<NodeAffinity>();
const sharedTolerations = createDataSharer<Tolerations>();

/**
 * `affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution` of the spec of a pod or a template; the same object
 * for the same content.
 */
export function requiredAffinity(spec: Place): NodeAffinity {
  const affinity = child(child(spec, "affinity"), "nodeAffinity");
  return nodeSelectorTerms(child(affinity, "requiredDuringSchedulingIgnoredDuringExecution"));
}

/**
 * The terms of a NodeSelector. Requirements on fields (a node's name) are not read; where a term has no others, it is not known
 * what is required.
 */
export function nodeSelectorTerms(required: Place): NodeAffinity {
  const terms: (readonly LabelRequirement[])[] = [];
  for (const term of someItems(required, "nodeSelectorTerms")) {
    const asked = labelRequirements(term, "matchExpressions");
    if (asked.length > 0) terms.push(asked);
    else if (items(term, "matchFields").length > 0) return sharedAffinity([]);
    // A term without any requirement matches no node.
    else terms.push([matchesNothing]);
  }
  return sharedAffinity(terms);
}

const matchesNothing: LabelRequirement = { key: "", operator: "In", values: [] };

/** The requirements of a selector or of a term of node affinity. */
export function labelRequirements(place: Place, key: string): readonly LabelRequirement[] {
  return someItems(place, key).map((entry) => ({
    key: nameText(entry, "key"),
    operator: nameText(entry, "operator"),
    values: textItems(entry, "values").slice(0, 1024),
  }));
}

/**
 * `tolerations` of a pod, a template or a flavor; the same object for the same content. A toleration with an unknown operator
 * tolerates nothing, and is left out.
 */
export function tolerations(spec: Place): Tolerations {
  return sharedTolerations(
    someItems(spec, "tolerations").flatMap((entry): readonly Toleration[] => {
      const operator = text(entry, "operator") ?? "";
      if (operator !== "" && operator !== "Equal" && operator !== "Exists") return [];
      const effect = nameText(entry, "effect");
      return [
        {
          key: nameText(entry, "key"),
          operator: operator === "Exists" ? "Exists" : "Equal",
          value: nameText(entry, "value"),
          effect: effect === "" ? null : effect,
        },
      ];
    }),
  );
}

/** The taints of a node or a device. Taints whose effect keeps nothing away (`None` of device taints) are left out. */
export function taints(place: Place, key: string): readonly Taint[] {
  return items(place, key)
    .map(taintOf)
    .filter((taint) => taint !== null);
}

/** One taint; `null` if it keeps nothing away. */
export function taintOf(taint: Place): Taint | null {
  const effect = text(taint, "effect");
  if (effect !== "NoSchedule" && effect !== "PreferNoSchedule" && effect !== "NoExecute") return null;
  return { key: text(taint, "key") ?? "", value: text(taint, "value") ?? "", effect };
}
