import type { HyperNode, HyperNodeMember, TopologyObject } from "../../../model/topology.ts";
import { nameText, optionalName, shortText, someItems } from "../boundedFields.ts";
import { type Decoded, decodeObject } from "../decoded.ts";
import { child, has, number, type Place } from "../fields.ts";
import { labelRequirements } from "../nodeRules.ts";

/** The greatest number of levels of a Topology; the API servers accept no more. */
const maxLevels = 16;
/** The longest name of a label: a prefix of 253 characters, a slash and 63 more. */
const maxLabelChars = 317;

/**
 * A Topology of Kueue (`kueue.x-k8s.io` v1beta2, v1beta1, v1alpha1) or of KAI (`kai.scheduler/v1alpha1`) as a model record.
 * Sources: Kueue v0.19.2 `topology_types.go`; KAI-Scheduler `pkg/apis/kai/v1alpha1/topology_types.go`, which has aliases.
 */
export function decodeTopology(value: unknown): Decoded<TopologyObject> {
  return decodeObject("Topology", value, (object, meta) => ({
    name: meta.name,
    levels: someItems(child(object, "spec"), "levels", maxLevels).flatMap((level) => {
      const nodeLabel = shortText(level, "nodeLabel", maxLabelChars);
      return nodeLabel === "" ? [] : [{ nodeLabel, alias: optionalName(level, "alias") }];
    }),
  }));
}

/** The greatest number of members of a HyperNode that are read. */
const maxMembers = 2048;
const maxPatternChars = 253;

/**
 * A HyperNode of Volcano (`topology.volcano.sh/v1alpha1`) as a model record. Source: the CRD of Volcano v1.15.1. Members without
 * a selector are left out, as they select nothing.
 */
export function decodeHyperNode(value: unknown): Decoded<HyperNode> {
  return decodeObject("HyperNode", value, (object, meta) => {
    const spec = child(object, "spec");
    return {
      name: meta.name,
      tier: number(spec, "tier") ?? 0,
      tierName: optionalName(spec, "tierName"),
      members: someItems(spec, "members", maxMembers).flatMap((member) => {
        const selector = memberSelector(child(member, "selector"));
        const type = nameText(member, "type");
        return selector === null || (type !== "Node" && type !== "HyperNode") ? [] : [{ type, selector }];
      }),
    };
  });
}

function memberSelector(place: Place): HyperNodeMember["selector"] | null {
  if (has(place, "exactMatch")) return { kind: "exact", name: nameText(child(place, "exactMatch"), "name") };
  if (has(place, "regexMatch"))
    return { kind: "pattern", pattern: shortText(child(place, "regexMatch"), "pattern", maxPatternChars) };
  if (!has(place, "labelMatch")) return null;
  const match = child(place, "labelMatch");
  const labels = child(match, "matchLabels");
  const equal = Object.keys(labels.value).map((key) => ({ key, operator: "In", values: [nameText(labels, key)] }));
  return { kind: "labels", labels: [...equal.slice(0, 64), ...labelRequirements(match, "matchExpressions")] };
}
