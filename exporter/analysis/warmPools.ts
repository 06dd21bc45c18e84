import type { Config } from "../config/schema.ts";
import type { TextMap } from "../model/node.ts";

/** Which nodes are kept ready on purpose: setting `idle.warmPools`. */
export type WarmPools = Config["idle"]["warmPools"];

/** Whether a node with these labels is kept ready on purpose: it has one of the labels, with its value where one is set. */
export function isWarmPool(labels: TextMap, warmPools: WarmPools): boolean {
  return warmPools.some(({ label, value }) => {
    const found = Object.hasOwn(labels, label) ? labels[label] : undefined;
    return found !== undefined && (value === undefined || found === value);
  });
}
