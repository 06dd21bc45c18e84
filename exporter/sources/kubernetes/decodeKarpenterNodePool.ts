import type { CapacityType } from "../../model/capacityType.ts";
import type { KarpenterNodePool } from "../../model/nodePools.ts";
import { nodeLabels } from "../../model/wellKnown.ts";
import { type Decoded, decodeObject } from "./decoded.ts";
import { child, items, text, textItems } from "./fields.ts";
import { duration } from "./queues/duration.ts";
import { amounts } from "./textMap.ts";

const capacityTypes: Readonly<Record<string, CapacityType>> = {
  "on-demand": "on-demand",
  spot: "spot",
  reserved: "reserved",
};

/** A NodePool of Karpenter (`karpenter.sh/v1`, `v1beta1`). */
export function decodeKarpenterNodePool(value: unknown): Decoded<KarpenterNodePool> {
  return decodeObject("NodePool", value, (object, meta) => {
    const spec = child(object, "spec");
    const disruption = child(spec, "disruption");
    const required = items(child(child(spec, "template"), "spec"), "requirements");
    const allowed = required
      .filter((one) => text(one, "key") === nodeLabels.karpenterCapacityType && text(one, "operator") === "In")
      .flatMap((one) => textItems(one, "values"));
    return {
      name: meta.name,
      limits: amounts(spec, "limits", () => true),
      consolidationPolicy: text(disruption, "consolidationPolicy") ?? "",
      consolidateAfterSeconds:
        text(disruption, "consolidateAfter") === "Never" ? null : duration(disruption, "consolidateAfter"),
      capacityTypes: allowed.flatMap((name) => (Object.hasOwn(capacityTypes, name) ? (capacityTypes[name] ?? []) : [])),
    };
  });
}
