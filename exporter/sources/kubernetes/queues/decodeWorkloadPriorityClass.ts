import type { KueueWorkloadPriorityClass } from "../../../model/queues/kueue.ts";
import { type Decoded, decodeObject } from "../decoded.ts";
import { number } from "../fields.ts";

/** A WorkloadPriorityClass (`kueue.x-k8s.io` v1beta2 or v1beta1, which are the same) as a model record. */
export function decodeWorkloadPriorityClass(value: unknown): Decoded<KueueWorkloadPriorityClass> {
  return decodeObject("WorkloadPriorityClass", value, (object, meta) => ({
    name: meta.name,
    value: number(object, "value") ?? 0,
  }));
}
