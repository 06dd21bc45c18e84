import { bareRecord } from "../../../kernel/bareRecord.ts";
import type { ResourceAmounts } from "../../../model/node.ts";
import type { LabelRequirement, PodNeeds, Toleration } from "../../../model/queues/podNeeds.ts";
import { child, items, type Place, text, textItems } from "../fields.ts";
import { podResources } from "../podResources.ts";
import { textMap, wholeLabels } from "../textMap.ts";
import { nameText, someItems } from "./bounds.ts";

/** What the spec of a pod template asks of a node. */
export function podNeeds(spec: Place, configuredGpus: ReadonlySet<string>): PodNeeds {
  return {
    requests: requests(spec, configuredGpus),
    nodeSelector: textMap(spec, "nodeSelector", wholeLabels),
    nodeAffinity: requiredAffinity(spec),
    tolerations: tolerations(spec),
  };
}

function requests(spec: Place, configuredGpus: ReadonlySet<string>): ResourceAmounts {
  const { cpuMilli, memoryBytes, gpus } = podResources(spec, configuredGpus);
  const amounts = bareRecord<number>();
  if (cpuMilli > 0) amounts.cpu = cpuMilli / 1000;
  if (memoryBytes > 0) amounts.memory = memoryBytes;
  return Object.assign(amounts, gpus);
}

/** `requiredDuringSchedulingIgnoredDuringExecution`; requirements on fields other than labels are not read. */
function requiredAffinity(spec: Place): readonly (readonly LabelRequirement[])[] {
  const affinity = child(child(spec, "affinity"), "nodeAffinity");
  const required = child(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
  const terms = someItems(required, "nodeSelectorTerms");
  // A term without any requirement matches no node.
  return terms.map((term) => {
    const asked = labelRequirements(term, "matchExpressions");
    return asked.length === 0 && items(term, "matchFields").length === 0 ? [matchesNothing] : asked;
  });
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

/** `tolerations` of a pod or of a flavor. One with an operator that is not known tolerates nothing, and is left out. */
export function tolerations(spec: Place): readonly Toleration[] {
  return someItems(spec, "tolerations").flatMap((entry): readonly Toleration[] => {
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
  });
}
