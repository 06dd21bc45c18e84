import type { KueueQuota, KueueUsage } from "../../../model/queues/kueue.ts";
import { child, has, type Place } from "../fields.ts";
import { amount, nameText, someItems } from "./bounds.ts";

/** `spec.resourceGroups` of a ClusterQueue or Cohort, in the order in which Kueue tries the flavors. */
export function kueueQuotas(spec: Place): readonly KueueQuota[] {
  return someItems(spec, "resourceGroups").flatMap((group, groupIndex) =>
    someItems(group, "flavors").flatMap((flavor, flavorIndex) =>
      someItems(flavor, "resources").map((resource, resourceIndex) => ({
        flavor: nameText(flavor, "name"),
        resource: nameText(resource, "name"),
        nominal: amount(resource, "nominalQuota") ?? 0,
        borrowingLimit: amount(resource, "borrowingLimit"),
        lendingLimit: amount(resource, "lendingLimit"),
        place: { group: groupIndex, flavor: flavorIndex, resource: resourceIndex },
      })),
    ),
  );
}

/** `status.flavorsReservation` or `status.flavorsUsage`; a LocalQueue borrows nothing. */
export function kueueUsage(status: Place, key: string): readonly KueueUsage[] {
  return someItems(status, key).flatMap((flavor) =>
    someItems(flavor, "resources").map((resource) => ({
      flavor: nameText(flavor, "name"),
      resource: nameText(resource, "name"),
      total: amount(resource, "total") ?? 0,
      borrowed: amount(resource, "borrowed") ?? 0,
    })),
  );
}

/** `spec.fairSharing.weight`, default 1. */
export function fairSharingWeight(spec: Place): number {
  const sharing = child(spec, "fairSharing");
  return has(sharing, "weight") ? (amount(sharing, "weight") ?? 1) : 1;
}
