import type { KueueResourceFlavor } from "../../../model/queues/kueue.ts";
import { type Decoded, decodeObject } from "../decoded.ts";
import { child } from "../fields.ts";
import { tolerations } from "../nodeRules.ts";
import { taints } from "../taints.ts";
import { textMap, wholeLabels } from "../textMap.ts";
import { optionalName } from "./bounds.ts";

/** A ResourceFlavor (`kueue.x-k8s.io` v1beta2 or v1beta1, which are the same) as a model record. */
export function decodeResourceFlavor(value: unknown): Decoded<KueueResourceFlavor> {
  return decodeObject("ResourceFlavor", value, (object, meta) => {
    const spec = child(object, "spec");
    return {
      name: meta.name,
      nodeLabels: textMap(spec, "nodeLabels", wholeLabels),
      nodeTaints: taints(spec, "nodeTaints"),
      tolerations: tolerations(spec),
      topologyName: optionalName(spec, "topologyName"),
    };
  });
}
