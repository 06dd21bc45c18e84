import type {
  KueueAdmissionCheck,
  KueueClusterQueue,
  KueueCohort,
  KueueLocalQueue,
  KueueQuota,
  KueueResourceFlavor,
  KueueUsage,
  KueueWorkloadPriorityClass,
} from "../../../model/queues/kueue.ts";
import {
  amount,
  conditionOf,
  conditions,
  nameText,
  optionalAmounts,
  optionalName,
  revisionOf,
  someItems,
  textMap,
  wholeLabels,
} from "../boundedFields.ts";
import { type Decoded, decodeObject } from "../decoded.ts";
import { child, has, number, type Place, text, time } from "../fields.ts";
import { labelRequirements, taints, tolerations } from "../nodeRules.ts";

/** A ClusterQueue (`kueue.x-k8s.io` v1beta2, or v1beta1 where the cohort's field is `cohort`) as a model record. */
export function decodeClusterQueue(value: unknown): Decoded<KueueClusterQueue> {
  return decodeObject("ClusterQueue", value, (object, meta) => {
    const spec = child(object, "spec");
    const status = child(object, "status");
    const preemption = child(spec, "preemption");
    const borrow = child(preemption, "borrowWithinCohort");
    const threshold = number(borrow, "maxPriorityThreshold");
    return {
      name: meta.name,
      cohort: optionalName(spec, "cohortName") ?? optionalName(spec, "cohort"),
      quotas: kueueQuotas(spec),
      queueingStrategy: text(spec, "queueingStrategy") === "StrictFIFO" ? "StrictFIFO" : "BestEffortFIFO",
      weight: fairSharingWeight(spec),
      namespaceSelector: has(spec, "namespaceSelector") ? selector(child(spec, "namespaceSelector")) : null,
      preemption: {
        reclaimWithinCohort: policy(preemption, "reclaimWithinCohort"),
        withinClusterQueue: policy(preemption, "withinClusterQueue"),
        borrowWithinCohort: policy(borrow, "policy"),
        ...(threshold === null ? {} : { borrowMaxPriority: threshold }),
      },
      stopPolicy: optionalName(spec, "stopPolicy") ?? "None",
      admissionMode: optionalName(child(spec, "admissionScope"), "admissionMode"),
      createdAt: meta.createdAt,
      reservation: kueueUsage(status, "flavorsReservation"),
      usage: kueueUsage(status, "flavorsUsage"),
      pendingWorkloads: number(status, "pendingWorkloads"),
      reservingWorkloads: number(status, "reservingWorkloads"),
      admittedWorkloads: number(status, "admittedWorkloads"),
      weightedShare: number(child(status, "fairSharing"), "weightedShare"),
      active: conditionOf(
        conditions(status, (type) => type === "Active"),
        "Active",
      ),
      revision: revisionOf(object),
    };
  });
}

function selector(place: Place): KueueClusterQueue["namespaceSelector"] {
  return {
    matchLabels: textMap(place, "matchLabels", wholeLabels),
    matchExpressions: labelRequirements(place, "matchExpressions"),
  };
}

/** A policy; the API server fills in `Never` for one that is not set. */
function policy(place: Place, key: string): string {
  const found = nameText(place, key);
  return found === "" ? "Never" : found;
}

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

/** A ResourceFlavor (`kueue.x-k8s.io` v1beta2 or v1beta1, which are the same) as a model record. */
export function decodeResourceFlavor(value: unknown): Decoded<KueueResourceFlavor> {
  return decodeObject("ResourceFlavor", value, (object, meta) => {
    const spec = child(object, "spec");
    return {
      name: meta.name,
      nodeLabels: textMap(spec, "nodeLabels", wholeLabels),
      nodeTaints: taints(spec, "nodeTaints"),
      tolerations: tolerations(spec),
      topologyName: optionalName(spec, "topologyName"),
    };
  });
}

/** An AdmissionCheck (`kueue.x-k8s.io` v1beta2 or v1beta1) as a model record. */
export function decodeAdmissionCheck(value: unknown): Decoded<KueueAdmissionCheck> {
  return decodeObject("AdmissionCheck", value, (object, meta) => ({
    name: meta.name,
    controllerName: nameText(child(object, "spec"), "controllerName"),
  }));
}

/** A WorkloadPriorityClass (`kueue.x-k8s.io` v1beta2 or v1beta1, which are the same) as a model record. */
export function decodeWorkloadPriorityClass(value: unknown): Decoded<KueueWorkloadPriorityClass> {
  return decodeObject("WorkloadPriorityClass", value, (object, meta) => ({
    name: meta.name,
    value: number(object, "value") ?? 0,
  }));
}

/** The quotas in `spec.resourceGroups` of a ClusterQueue or Cohort, in the order in which Kueue tries the flavors. */
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

/** The usage in `status.flavorsReservation` or `status.flavorsUsage`; a LocalQueue borrows nothing. */
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

/** `spec.fairSharing.weight`; by default 1. */
export function fairSharingWeight(spec: Place): number {
  const sharing = child(spec, "fairSharing");
  return has(sharing, "weight") ? (amount(sharing, "weight") ?? 1) : 1;
}
