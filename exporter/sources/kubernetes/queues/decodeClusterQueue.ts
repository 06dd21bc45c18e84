import type { KueueClusterQueue } from "../../../model/queues/kueue.ts";
import { type Decoded, decodeObject } from "../decoded.ts";
import { child, has, number, type Place, text } from "../fields.ts";
import { labelRequirements } from "../nodeRules.ts";
import { textMap, wholeLabels } from "../textMap.ts";
import { nameText, optionalName } from "./bounds.ts";
import { conditionOf, conditions } from "./conditions.ts";
import { fairSharingWeight, kueueQuotas, kueueUsage } from "./kueueQuotas.ts";
import { revisionOf } from "./revisionOf.ts";

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

/** The API server fills in `Never` for a policy that is not set. */
function policy(place: Place, key: string): string {
  const found = nameText(place, key);
  return found === "" ? "Never" : found;
}
