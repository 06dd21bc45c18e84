import type { KueueAdmissionCheck } from "../../../model/queues/kueue.ts";
import { type Decoded, decodeObject } from "../decoded.ts";
import { child } from "../fields.ts";
import { nameText } from "./bounds.ts";

/** An AdmissionCheck (`kueue.x-k8s.io` v1beta2 or v1beta1) as a model record. */
export function decodeAdmissionCheck(value: unknown): Decoded<KueueAdmissionCheck> {
  return decodeObject("AdmissionCheck", value, (object, meta) => ({
    name: meta.name,
    controllerName: nameText(child(object, "spec"), "controllerName"),
  }));
}
