import type { PriorityClass } from "../../model/cluster.ts";
import { type Decoded, decodeObject } from "./decoded.ts";
import { flag, number } from "./fields.ts";

/** A PriorityClass (`scheduling.k8s.io/v1`) as a model record. */
export function decodePriorityClass(value: unknown): Decoded<PriorityClass> {
  return decodeObject("PriorityClass", value, (object, meta) => ({
    name: meta.name,
    value: number(object, "value") ?? 0,
    globalDefault: flag(object, "globalDefault"),
  }));
}
