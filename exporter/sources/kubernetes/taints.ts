import type { Taint } from "../../model/node.ts";
import { items, type Place, text } from "./fields.ts";

/** Taints of a node or a device. Effects that keep nothing away (`None` of device taints) are left out. */
export function taints(place: Place, key: string): readonly Taint[] {
  return items(place, key)
    .map(taintOf)
    .filter((taint) => taint !== null);
}

/** One taint; `null` for one that keeps nothing away. */
export function taintOf(taint: Place): Taint | null {
  const effect = text(taint, "effect");
  if (effect !== "NoSchedule" && effect !== "PreferNoSchedule" && effect !== "NoExecute") return null;
  return { key: text(taint, "key") ?? "", value: text(taint, "value") ?? "", effect };
}
