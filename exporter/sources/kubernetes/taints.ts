import type { Taint } from "../../model/node.ts";
import { items, type Place, text } from "./fields.ts";

/** Taints of a node or a device. Effects that keep nothing away (`None` of device taints) are left out. */
export function taints(place: Place, key: string): readonly Taint[] {
  const kept: Taint[] = [];
  for (const taint of items(place, key)) {
    const effect = text(taint, "effect");
    if (effect !== "NoSchedule" && effect !== "PreferNoSchedule" && effect !== "NoExecute") continue;
    kept.push({ key: text(taint, "key") ?? "", value: text(taint, "value") ?? "", effect });
  }
  return kept;
}
