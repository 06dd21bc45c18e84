import { bareRecord } from "../../../kernel/bareRecord.ts";
import type { ResourceAmounts } from "../../../model/node.ts";
import type { KueueAssignment, KueueCheckState, KueuePodSet, KueueWorkload } from "../../../model/queues/kueue.ts";
import type { PodNeeds } from "../../../model/queues/podNeeds.ts";
import { kueueNames } from "../../../model/wellKnown.ts";
import {
  amountMap,
  annotation,
  checkpointTime,
  conditionOf,
  conditions,
  cut,
  maxMessageChars,
  maxReasonChars,
  nameText,
  optionalName,
  shortText,
  someItems,
  type TextMapLimits,
  textMap,
  wholeLabels,
} from "../boundedFields.ts";
import { controllerOf, type Decoded, decodeObject } from "../decoded.ts";
import { child, flag, has, number, type Place, text, textItems, time } from "../fields.ts";
import { requiredAffinity, tolerations } from "../nodeRules.ts";
import { containerGpus, podResources } from "../podResources.ts";

/** The greatest number of pod sets that are read; Kueue allows 18. */
const maxPodSets = 64;
const noNames: ReadonlySet<string> = new Set();
const flavorNames: TextMapLimits = { keep: () => true, maxValueChars: 253 };
const conditionTypes: ReadonlySet<string> = new Set([
  "QuotaReserved",
  "Admitted",
  "PodsReady",
  "Evicted",
  "Preempted",
  "Requeued",
  "Finished",
]);

/**
 * A Workload (`kueue.x-k8s.io` v1beta2, or v1beta1 where the priority class is only named) as a model record. A finished
 * Workload holds and requests nothing, so nothing is kept about its pods.
 */
export function decodeWorkload(value: unknown, configuredGpus: ReadonlySet<string> = noNames): Decoded<KueueWorkload> {
  return decodeObject("Workload", value, (object, meta) => {
    const spec = child(object, "spec");
    const status = child(object, "status");
    const known = conditions(status, (type) => conditionTypes.has(type));
    const isFinished = conditionOf(known, "Finished")?.isTrue ?? false;
    const podSets = isFinished ? [] : readPodSets(spec, configuredGpus);
    const boost = priorityBoost(object);
    return {
      ...meta,
      localQueue: nameText(spec, "queueName"),
      priority: (number(spec, "priority") ?? 0) + boost,
      ...(boost === 0 ? {} : { priorityBoost: boost }),
      priorityClass: optionalName(child(spec, "priorityClassRef"), "name") ?? optionalName(spec, "priorityClassName"),
      active: !has(spec, "active") || flag(spec, "active"),
      owner: controllerOf(object),
      jobUid: jobUid(object),
      podSets,
      admission: has(status, "admission") ? admission(child(status, "admission"), podSets, isFinished) : null,
      conditions: known,
      reclaimable: isFinished ? [] : reclaimable(status),
      requeueAt: time(child(status, "requeueState"), "requeueAt"),
      evictions: isFinished ? [] : evictions(status),
      checkpointedAt: checkpointTime(object),
      ...(isFinished ? {} : { ...checks(status), ...placement(status), ...slice(object), ...copy(object) }),
    };
  });
}

function readPodSets(spec: Place, configuredGpus: ReadonlySet<string>): readonly KueuePodSet[] {
  return someItems(spec, "podSets", maxPodSets).map((podSet) => ({
    name: nameText(podSet, "name"),
    count: number(podSet, "count") ?? 1,
    minCount: number(podSet, "minCount"),
    ...requiredTopology(podSet),
    ...podTemplate(child(child(podSet, "template"), "spec"), configuredGpus),
  }));
}

/**
 * The level that a pod set requires, as Kueue wrote it into the Workload from the annotation of its pods. What it prefers, and
 * levels for slices of it, are not read: they do not keep the whole set in one domain.
 */
function requiredTopology(podSet: Place): Pick<KueuePodSet, "requiredTopology"> {
  const level = optionalName(child(podSet, "topologyRequest"), "required");
  if (level === null) return {};
  return { requiredTopology: { scheduler: "kueue", topology: null, level, tier: null } };
}

function podTemplate(spec: Place, configuredGpus: ReadonlySet<string>): Pick<KueuePodSet, "pod" | "containers"> {
  const containers = containerGpus(spec, configuredGpus);
  return { pod: podNeeds(spec, configuredGpus), ...(containers === null ? {} : { containers }) };
}

/** What the spec of a pod template requires of a node. */
function podNeeds(spec: Place, configuredGpus: ReadonlySet<string>): PodNeeds {
  return {
    requests: requests(spec, configuredGpus),
    nodeSelector: textMap(spec, "nodeSelector", wholeLabels),
    nodeAffinity: requiredAffinity(spec),
    tolerations: tolerations(spec),
  };
}

function requests(spec: Place, configuredGpus: ReadonlySet<string>): ResourceAmounts {
  const { cpuMilli, memoryBytes, gpus } = podResources(spec, configuredGpus);
  const amounts = bareRecord<number>();
  if (cpuMilli > 0) amounts.cpu = cpuMilli / 1000;
  if (memoryBytes > 0) amounts.memory = memoryBytes;
  return Object.assign(amounts, gpus);
}

const checkStates: ReadonlySet<string> = new Set(["Pending", "Ready", "Retry", "Rejected"]);
const isCheckState = (state: string | null): state is KueueCheckState["state"] =>
  state !== null && checkStates.has(state);

/** The greatest number of checks that are read; Kueue allows 8. */
const maxChecks = 32;

function checks(status: Place): Pick<KueueWorkload, "checks"> {
  const found = someItems(status, "admissionChecks", maxChecks).flatMap((entry): KueueCheckState[] => {
    const state = text(entry, "state");
    // An unknown state of a later version is ignored; the rest of the Workload still counts.
    if (!isCheckState(state)) return [];
    const message = shortText(entry, "message", maxMessageChars);
    return [{ name: nameText(entry, "name"), state, message, changedAt: time(entry, "lastTransitionTime") }];
  });
  return found.length === 0 ? {} : { checks: found };
}

/** The greatest number of clusters that are read; Kueue allows 20. */
const maxClusters = 64;

function placement(status: Place): Pick<KueueWorkload, "clusterName" | "nominatedClusters"> {
  const clusterName = optionalName(status, "clusterName");
  const nominated = textItems(status, "nominatedClusterNames").slice(0, maxClusters);
  return {
    ...(clusterName === null ? {} : { clusterName }),
    ...(nominated.length === 0 ? {} : { nominatedClusters: nominated.map((name) => cut(name, maxClusterChars)) }),
  };
}

const maxClusterChars = 256;

function slice(object: Place): Pick<KueueWorkload, "replaces"> {
  const replaces = annotation(object, kueueNames.sliceReplacementFor) ?? "";
  return replaces === "" ? {} : { replaces: cut(replaces, maxKeyChars) };
}

const maxKeyChars = 507;

function admission(
  place: Place,
  podSets: readonly KueuePodSet[],
  isFinished: boolean,
): NonNullable<KueueWorkload["admission"]> {
  const assignments = isFinished ? [] : someItems(place, "podSetAssignments", maxPodSets);
  return {
    clusterQueue: nameText(place, "clusterQueue"),
    assignments: assignments.map((entry): KueueAssignment => {
      const podSet = nameText(entry, "name");
      // Kueue has written the count only since partial admission exists; without it all pods were admitted.
      const all = podSets.find(({ name }) => name === podSet)?.count ?? 0;
      return {
        podSet,
        count: number(entry, "count") ?? all,
        flavors: textMap(entry, "flavors", flavorNames),
        usage: amountMap(entry, "resourceUsage"),
      };
    }),
  };
}

function reclaimable(status: Place): KueueWorkload["reclaimable"] {
  return someItems(status, "reclaimablePods", maxPodSets).map((entry) => ({
    podSet: nameText(entry, "name"),
    count: number(entry, "count") ?? 0,
  }));
}

function evictions(status: Place): KueueWorkload["evictions"] {
  return someItems(child(status, "schedulingStats"), "evictions", 32).map((entry) => ({
    reason: shortText(entry, "reason", maxReasonChars),
    underlyingCause: shortText(entry, "underlyingCause", maxReasonChars),
    count: number(entry, "count") ?? 0,
  }));
}

/** The amount that Kueue adds to the priority; as in Kueue, text that is no 32-bit number adds nothing. */
function priorityBoost(object: Place): number {
  const boost = annotation(object, kueueNames.priorityBoost) ?? "";
  const amount = /^[+-]?\d{1,10}$/.test(boost) ? Number(boost) : 0;
  return Math.abs(amount) < 2 ** 31 ? amount : 0;
}

function copy(object: Place): Pick<KueueWorkload, "isCopy"> {
  return has(child(child(object, "metadata"), "labels"), kueueNames.multiKueueOrigin) ? { isCopy: true } : {};
}

function jobUid(object: Place): string | null {
  return optionalName(child(child(object, "metadata"), "labels"), kueueNames.jobUid);
}
