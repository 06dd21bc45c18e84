import type { KueueLocalQueue } from "../../../model/queues/kueue.ts";
import { type Decoded, decodeObject } from "../decoded.ts";
import { child, has, time } from "../fields.ts";
import { nameText, optionalAmounts, optionalName } from "./bounds.ts";
import { fairSharingWeight, kueueUsage } from "./kueueQuotas.ts";

/** A LocalQueue (`kueue.x-k8s.io` v1beta2, or v1beta1 where the used quota is `flavorUsage`) as a model record. */
export function decodeLocalQueue(value: unknown): Decoded<KueueLocalQueue> {
  return decodeObject("LocalQueue", value, (object, meta) => {
    const spec = child(object, "spec");
    const status = child(object, "status");
    const sharing = child(child(status, "fairSharing"), "admissionFairSharingStatus");
    return {
      namespace: meta.namespace,
      name: meta.name,
      clusterQueue: nameText(spec, "clusterQueue"),
      weight: fairSharingWeight(spec),
      stopPolicy: optionalName(spec, "stopPolicy") ?? "None",
      consumed: optionalAmounts(sharing, "consumedResources"),
      consumedAt: time(sharing, "lastUpdate"),
      reservation: kueueUsage(status, "flavorsReservation"),
      usage: kueueUsage(status, has(status, "flavorsUsage") ? "flavorsUsage" : "flavorUsage"),
    };
  });
}
