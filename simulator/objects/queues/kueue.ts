import { gpuResources, nodeLabels } from "../../../exporter/model/wellKnown.ts";
import { wantedPods } from "../../cluster/owners.ts";
import { priorityOf } from "../../cluster/scheduler.ts";
import type { Workload, World } from "../../cluster/world.ts";
import { gpuModels } from "../../gpuModels.ts";
import { flavorOf, usedOf } from "../../queues/kueueRules.ts";
import { borrowed, kueueTree, weightedShare } from "../../queues/kueueTree.ts";
import { askedGpus } from "../../queues/membership.ts";
import type { FlavorQuota, KueueSpec } from "../../queues/spec.ts";
import { uuidFrom } from "../../random.ts";
import { type KindedObject, type ObjectMeta, timestamp } from "../kubeObject.ts";
import { podTemplateOf } from "../template.ts";
import { controllersOf, queueObjectUid, workloadObjectName } from "./identity.ts";
import { topologyName, topologyObjects, topologyReason, topologyRequest } from "./kueueTopology.ts";

/** All objects of Kueue, as they are now. */
export function kueueObjects(world: World, spec: KueueSpec): readonly KindedObject[] {
  const all = [...world.workloads].filter((each) => each.system === "kueue" && wantedPods(each) > 0);
  const running = all.filter(({ admittedAt, endedTime }) => admittedAt !== null && endedTime === null);
  const created = timestamp(world.nodes[0]?.createdAt ?? 0);
  const meta = (kind: string, name: string, namespace?: string): ObjectMeta => ({
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid: uuidFrom(`${kind}/${namespace ?? ""}/${name}`),
    creationTimestamp: created,
  });
  return [
    ...topologyObjects(spec, meta),
    ...spec.flavors.map(({ name, model }) => ({
      kind: "kueue/ResourceFlavor",
      object: {
        metadata: meta("flavor", name),
        spec: {
          nodeLabels: { [nodeLabels.gpuProduct]: gpuModels[model].product },
          ...(spec.topologyLevels === undefined ? {} : { topologyName }),
        },
      },
    })),
    ...spec.cohorts.map((cohort) => ({
      kind: "kueue/Cohort",
      object: {
        metadata: meta("cohort", cohort.name),
        spec: {
          ...(cohort.parent === null ? {} : { parentName: cohort.parent }),
          fairSharing: { weight: String(cohort.weight) },
          ...(cohort.quotas.length === 0 ? {} : { resourceGroups: [resourceGroup(cohort.quotas)] }),
        },
        status: {},
      },
    })),
    ...spec.clusterQueues.flatMap((queue) => {
      const own = all.filter(({ spec: { queue: name } }) => name === queue.name);
      const admitted = own.filter((each) => running.includes(each));
      const used = usage(spec, queue.name, queue.quotas, running);
      const status = {
        conditions: [
          {
            type: "Active",
            status: "True",
            reason: "Ready",
            message: "Can admit new workloads",
            lastTransitionTime: created,
          },
        ],
        flavorsReservation: used,
        flavorsUsage: used,
        pendingWorkloads: own.filter(({ admittedAt }) => admittedAt === null).length,
        reservingWorkloads: admitted.length,
        admittedWorkloads: admitted.length,
        ...(spec.fairSharing
          ? { fairSharing: { weightedShare: reportedShare(spec, queue.name, queue.quotas, running) } }
          : {}),
      };
      const clusterQueue = {
        kind: "kueue/ClusterQueue",
        object: {
          metadata: meta("clusterqueue", queue.name),
          spec: {
            ...(queue.cohort === null ? {} : { cohortName: queue.cohort }),
            queueingStrategy: queue.strategy,
            namespaceSelector: {},
            preemption: {
              reclaimWithinCohort: queue.reclaimWithinCohort,
              withinClusterQueue: queue.withinClusterQueue ?? "LowerPriority",
            },
            fairSharing: { weight: String(queue.weight) },
            stopPolicy: "None",
            resourceGroups: [resourceGroup(queue.quotas)],
          },
          status,
        },
      };
      const locals = queue.namespaces.map((namespace) => ({
        kind: "kueue/LocalQueue",
        object: {
          metadata: meta("localqueue", queue.name, namespace),
          spec: { clusterQueue: queue.name, stopPolicy: "None" },
          status: {
            pendingWorkloads: own.filter((each) => each.spec.namespace === namespace && each.admittedAt === null)
              .length,
          },
        },
      }));
      return [clusterQueue, ...locals];
    }),
    ...all.map((workload) => workloadObject(world, spec, workload)),
  ];
}

function resourceGroup(quotas: readonly FlavorQuota[]): object {
  return {
    coveredResources: [gpuResources.nvidia],
    flavors: quotas.map(({ flavor, nominal, borrowingLimit, lendingLimit }) => ({
      name: flavor,
      resources: [
        {
          name: gpuResources.nvidia,
          nominalQuota: String(nominal),
          ...(borrowingLimit === null ? {} : { borrowingLimit: String(borrowingLimit) }),
          ...(lendingLimit === null ? {} : { lendingLimit: String(lendingLimit) }),
        },
      ],
    })),
  };
}

function usage(
  spec: KueueSpec,
  queue: string,
  quotas: readonly FlavorQuota[],
  running: readonly Workload[],
): readonly object[] {
  return quotas.map(({ flavor }) => {
    const node = kueueTree(spec, flavor, usedOf(spec, flavor, running)).get(`queue/${queue}`);
    const resource = {
      name: gpuResources.nvidia,
      total: String(node?.usage ?? 0),
      borrowed: String(node === undefined ? 0 : borrowed(node)),
    };
    return { name: flavor, resources: [resource] };
  });
}

/**
 * The weighted share that Kueue reports for a queue. Borrowed and lendable GPUs are added up over flavors, and Kueue rounds up.
 */
function reportedShare(
  spec: KueueSpec,
  queue: string,
  quotas: readonly FlavorQuota[],
  running: readonly Workload[],
): number {
  if (quotas.length !== 1) return 0;
  const [{ flavor } = { flavor: "" }] = quotas;
  const node = kueueTree(spec, flavor, usedOf(spec, flavor, running)).get(`queue/${queue}`);
  const share = node === undefined ? 0 : weightedShare(node);
  return Number.isFinite(share) ? Math.ceil(share) : Number.MAX_SAFE_INTEGER;
}

function workloadObject(world: World, spec: KueueSpec, workload: Workload): KindedObject {
  const { uid, spec: work } = workload;
  const flavor = flavorOf(spec, workload);
  const requests = {
    [gpuResources.nvidia]: String(askedGpus(work)),
    cpu: `${work.cpuMilli * work.pods}m`,
    memory: `${work.memoryMiB * work.pods}Mi`,
  };
  return {
    kind: "kueue/Workload",
    object: {
      metadata: {
        name: workloadObjectName(workload),
        namespace: work.namespace,
        uid: queueObjectUid(workload),
        creationTimestamp: timestamp(workload.createdAt),
        labels: { "kueue.x-k8s.io/job-uid": uid },
        ownerReferences: controllersOf(workload),
      },
      spec: {
        queueName: work.queue,
        active: workload.active,
        priority: priorityOf(world, workload),
        ...(work.priorityClass === null
          ? {}
          : { priorityClassRef: { group: "scheduling.k8s.io", kind: "PriorityClass", name: work.priorityClass } }),
        podSets: [
          {
            name: "main",
            count: work.pods,
            ...topologyRequest(work.topology),
            template: podTemplateOf(workload, true),
          },
        ],
      },
      status: {
        conditions: conditions(world, workload),
        ...(workload.admittedAt === null
          ? { resourceRequests: [{ name: "main", resources: requests }] }
          : {
              admission: {
                clusterQueue: work.queue,
                podSetAssignments: [
                  {
                    name: "main",
                    count: work.pods,
                    flavors: { [gpuResources.nvidia]: flavor ?? "" },
                    resourceUsage: { [gpuResources.nvidia]: String(askedGpus(work)) },
                  },
                ],
              },
            }),
        ...reclaimablePods(workload),
        ...(workload.evictions === 0
          ? {}
          : {
              schedulingStats: {
                evictions: [{ ...lastEviction(workload), count: workload.evictions }],
              },
            }),
      },
    },
  };
}

function lastEviction({ eviction }: Workload): object {
  return eviction?.by === null
    ? { reason: "Deactivated", underlyingCause: "" }
    : { reason: "Preempted", underlyingCause: eviction?.reason ?? "" };
}

/** The reclaimable pods of a Workload: pods that have ended give their quota back before the others do. */
function reclaimablePods({ pods, admittedAt }: Workload): object {
  const ended = pods.filter(({ endedAt }) => endedAt !== null).length;
  return admittedAt === null || ended === 0 ? {} : { reclaimablePods: [{ name: "main", count: ended }] };
}

/** Reason and message of a Workload without quota. */
function whyNoQuota(world: World, workload: Workload): readonly [reason: string, message: string] {
  const { active, tried } = workload;
  if (!active) return ["Inadmissible", "The workload is deactivated"];
  const misfit = tried ? topologyReason(world, workload) : null;
  if (misfit !== null) return misfit;
  return tried
    ? ["WaitingForQuota", "couldn't assign flavors to pod set main: insufficient unused quota"]
    : ["PendingEvaluation", "Pending evaluation in the scheduling queue"];
}

function conditions(world: World, workload: Workload): readonly object[] {
  const { admittedAt, eviction, queuedAt, endedTime, pods } = workload;
  const entry = (type: string, isTrue: boolean, at: number, reason: string, message: string) => ({
    type,
    status: isTrue ? "True" : "False",
    lastTransitionTime: timestamp(at),
    reason,
    message,
    observedGeneration: 1,
  });
  const list: object[] = [];
  if (admittedAt === null) {
    const [reason, message] = whyNoQuota(world, workload);
    list.push(entry("QuotaReserved", false, queuedAt, reason, message));
    if (eviction !== null && eviction.by === null) {
      list.push(entry("Evicted", true, eviction.at, "Deactivated", "The workload is deactivated"));
      list.push(entry("Requeued", workload.active, eviction.at, "Deactivated", "The workload is deactivated"));
    } else if (eviction?.by != null) {
      const because = `Preempted to accommodate a workload (UID: ${queueObjectUid(eviction.by)}, JobUID: ${eviction.by.uid}) due to ${eviction.reason}`;
      list.push(entry("Evicted", true, eviction.at, "Preempted", because));
      list.push(entry("Preempted", true, eviction.at, eviction.reason, because));
      list.push(entry("Requeued", true, eviction.at, "Preempted", because));
    }
    return list;
  }
  list.push(
    entry("QuotaReserved", true, admittedAt, "QuotaReserved", `Quota reserved in ClusterQueue ${workload.spec.queue}`),
  );
  list.push(entry("Admitted", true, admittedAt, "Admitted", "The workload is admitted"));
  const starts = pods.map(({ startedAt }) => startedAt);
  const isReady = starts.length > 0 && starts.every((at) => at !== null);
  const readyAt = Math.max(admittedAt, ...starts.filter((at) => at !== null));
  list.push(
    entry(
      "PodsReady",
      isReady,
      readyAt,
      isReady ? "Started" : "WaitForStart",
      isReady ? "All pods reached readiness" : "Not all pods are ready or succeeded",
    ),
  );
  if (eviction !== null) {
    // Kueue takes back the conditions that the new reservation ends, and keeps the time at which the Workload was put back into
    // its queue.
    list.push(entry("Evicted", false, admittedAt, "QuotaReserved", "Previously: evicted"));
    list.push(entry("Requeued", true, queuedAt, "Preempted", "Previously: evicted"));
  }
  if (endedTime !== null) {
    const ended = Math.max(0, ...pods.map(({ endedAt }) => endedAt ?? 0));
    list.push(entry("Finished", true, ended, workload.fails ? "Failed" : "Succeeded", "Job finished"));
  }
  return list;
}
