import type { DeviceTaintRule } from "../../model/cluster.ts";
import { type Decoded, decodeObject } from "./decoded.ts";
import { child, items, text } from "./fields.ts";
import { taintOf } from "./taints.ts";

/**
 * A DeviceTaintRule (`resource.k8s.io` v1beta2 or v1alpha3) as a model record. The first v1alpha3 could select by class and by
 * expressions: what such a rule selects is not known, and it taints nothing here.
 */
export function decodeDeviceTaintRule(value: unknown): Decoded<DeviceTaintRule> {
  return decodeObject("DeviceTaintRule", value, (object, meta) => {
    const spec = child(object, "spec");
    const selector = child(spec, "deviceSelector");
    const isOdd = text(selector, "deviceClassName") !== null || items(selector, "selectors").length > 0;
    return {
      name: meta.name,
      driver: text(selector, "driver"),
      pool: text(selector, "pool"),
      device: text(selector, "device"),
      taint: isOdd ? null : taintOf(child(spec, "taint")),
    };
  });
}
