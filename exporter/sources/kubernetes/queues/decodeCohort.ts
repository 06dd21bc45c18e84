import type { KueueCohort } from "../../../model/queues/kueue.ts";
import { type Decoded, decodeObject } from "../decoded.ts";
import { child, number } from "../fields.ts";
import { optionalName } from "./bounds.ts";
import { fairSharingWeight, kueueQuotas } from "./kueueQuotas.ts";
import { revisionOf } from "./revisionOf.ts";

/** A Cohort (`kueue.x-k8s.io` v1beta2 or v1beta1; v1alpha1, where the parent's field is `parent`) as a model record. */
export function decodeCohort(value: unknown): Decoded<KueueCohort> {
  return decodeObject("Cohort", value, (object, meta) => {
    const spec = child(object, "spec");
    return {
      name: meta.name,
      parent: optionalName(spec, "parentName") ?? optionalName(spec, "parent"),
      quotas: kueueQuotas(spec),
      weight: fairSharingWeight(spec),
      weightedShare: number(child(child(object, "status"), "fairSharing"), "weightedShare"),
      revision: revisionOf(object),
    };
  });
}
