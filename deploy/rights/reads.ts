import { type WatchedKindName, watchedKindNames, watchedKinds } from "../../exporter/sources/kubernetes/kinds.ts";
import { monitorKinds } from "../../exporter/sources/kubernetes/monitors/monitorReader.ts";
import { ownerKinds } from "../../exporter/sources/kubernetes/ownerKinds.ts";
import {
  pendingWorkloadsSubresource,
  visibilityApi,
} from "../../exporter/sources/kubernetes/queues/pendingWorkloads.ts";
import type { OptionalRight } from "../../exporter/sources/kubernetes/rights.ts";

/** One line of the role: which resources of an API group are read, and how. */
export interface Read {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** The right that enables it; `null` if every installation has it. */
  readonly right: OptionalRight | null;
  /** The purpose of reading it, and what a holder of the token could read with it; one entry for each meaning. */
  readonly reasons: readonly ReadReason[];
}

export interface ReadReason {
  readonly purpose: string;
  readonly exposes: string;
}

const metadataOnly =
  "the whole object, although Fairlead asks for its metadata only, but of jobs: specifications with images, arguments and environment variables";

const reasonsOfKinds: Readonly<Record<WatchedKindName, ReadReason>> = {
  nodes: {
    purpose: "GPUs, models, labels, taints and readiness of nodes",
    exposes: "all nodes with labels, addresses and images",
  },
  pods: {
    purpose: "who holds and who waits for GPUs",
    exposes:
      "all pods with their environment variables, arguments and annotations: no Secret, but what people wrote into them in the clear",
  },
  namespaces: { purpose: "teams, by labels and annotations", exposes: "all namespaces with labels and annotations" },
  priorityClasses: { purpose: "priorities, and who may preempt whom", exposes: "priority classes" },
  podDisruptionBudgets: { purpose: "vetoes of advice", exposes: "disruption budgets and their selectors" },
  horizontalPodAutoscalers: {
    purpose: "who sets the replicas of a workload: no advice fights it, or stops what nothing wakes",
    exposes: "all autoscalers with their targets and metrics",
  },
  scaledObjects: {
    purpose: "the same of KEDA, which wakes work at no replicas",
    exposes: "all scaled objects with their triggers: addresses and queries, no Secret",
  },
  verticalPodAutoscalers: {
    purpose: "who restarts the pods of a workload to change what they ask for",
    exposes: "all vertical autoscalers with their recommendations",
  },
  resourceClaims: {
    purpose: "who holds which device, under dynamic resource allocation",
    exposes: "claims, their parameters and devices",
  },
  resourceSlices: {
    purpose: "devices of nodes, under dynamic resource allocation",
    exposes: "devices and their attributes",
  },
  deviceTaintRules: {
    purpose: "devices that someone has taken out of use, under dynamic resource allocation",
    exposes: "taints and what they select",
  },
  kueueClusterQueues: { purpose: "quota, borrowing and policies", exposes: "quotas of all queues" },
  kueueLocalQueues: { purpose: "which namespace uses which queue", exposes: "queues of all namespaces" },
  kueueCohorts: { purpose: "trees of queues that lend to each other", exposes: "cohorts and their quotas" },
  kueueResourceFlavors: { purpose: "which nodes a quota counts on", exposes: "flavors, node labels and tolerations" },
  kueueWorkloads: {
    purpose: "waiting, admitted and evicted work",
    exposes: "workloads with their pod templates: environment variables and arguments",
  },
  kueueWorkloadPriorityClasses: { purpose: "priorities of work", exposes: "workload priority classes" },
  kueueAdmissionChecks: {
    purpose: "which check holds work with quota back: nodes to come, or another cluster",
    exposes: "admission checks and their parameters",
  },
  kueueTopologies: {
    purpose: "levels of the cluster's topology, such as racks",
    exposes: "topologies: names of node labels",
  },
  kaiQueues: { purpose: "quota, limits and weights", exposes: "quotas of all queues" },
  kaiPodGroups: { purpose: "gangs, and why they wait", exposes: "pod groups with their queues and conditions" },
  kaiSchedulingShards: {
    purpose: "which nodes a shard schedules, and its settings",
    exposes: "settings of the scheduler",
  },
  kaiTopologies: {
    purpose: "levels of the cluster's topology, such as racks",
    exposes: "topologies: names of node labels",
  },
  volcanoQueues: { purpose: "quota, limits and weights", exposes: "quotas of all queues" },
  volcanoPodGroups: { purpose: "gangs, and why they wait", exposes: "pod groups with their queues and conditions" },
  volcanoHyperNodes: {
    purpose: "domains of the network's topology, such as racks",
    exposes: "names and labels of the nodes of each domain",
  },
  nativePodGroups: { purpose: "gangs of Kubernetes itself", exposes: "pod groups with their policies and conditions" },
  nativeWorkloads: {
    purpose: "for which object a gang of Kubernetes itself was made",
    exposes: "workloads with the templates of their pod groups: no pod templates",
  },
  coschedulingPodGroups: {
    purpose: "gangs of the coscheduling plugin",
    exposes: "pod groups with their least number of pods",
  },
  resourceQuotas: { purpose: "limits of namespaces, where there are no queues", exposes: "quotas of all namespaces" },
  limitRanges: {
    purpose: "pods that a namespace refuses for the GPUs that they ask for",
    exposes: "limit ranges of all namespaces",
  },
  karpenterNodePools: {
    purpose: "limits and consolidation settings of node pools",
    exposes: "node pools with their requirements and limits",
  },
  persistentVolumeClaims: {
    purpose: "which volumes the pods have that advice would move",
    exposes: "volume claims of all namespaces: names, sizes and storage classes",
  },
  persistentVolumes: {
    purpose: "which nodes can attach a volume",
    exposes: "volumes, with the addresses and identifiers of their storage: no Secret, but the names of such",
  },
};

const pendingWorkloads: Read = {
  group: visibilityApi.group,
  resources: [`${visibilityApi.resource}/${pendingWorkloadsSubresource}`],
  verbs: ["get"],
  right: visibilityApi.right,
  reasons: [
    {
      purpose: "the order in which Kueue serves what waits, where its visibility API is served",
      exposes: "names and priorities of waiting workloads",
    },
  ],
};

/** Monitors are listed in single namespaces, where the configuration names them. */
const monitors: readonly Read[] = [
  {
    group: monitorKinds.podMonitors.group,
    resources: [monitorKinds.podMonitors.resource, monitorKinds.serviceMonitors.resource],
    verbs: ["list"],
    right: "monitors",
    reasons: [
      {
        purpose: "where pods with GPUs are asked for the requests of their servers",
        exposes: "pod monitors with their selectors and endpoints: no Secret, but the names of such",
      },
      { purpose: "the same by Services", exposes: "service monitors likewise" },
    ],
  },
  {
    group: monitorKinds.services.group,
    resources: [monitorKinds.services.resource],
    verbs: ["list"],
    right: "monitors",
    reasons: [
      { purpose: "which pods and ports a service monitor means", exposes: "services with addresses and ports" },
    ],
  },
];

const owners: ReadReason = {
  purpose:
    "owners of pods with GPUs, one by one: the workload, its team label, of jobs how many pods start together, and of Jobs their limits",
  exposes: metadataOnly,
};

/** All resources of the cluster that Fairlead reads, with one line for each API group, right and way of reading. */
export function readsOfSources(): readonly Read[] {
  return [...watchedReads(), pendingWorkloads, ...monitors, ...ownerReads()];
}

function watchedReads(): readonly Read[] {
  const groups = new Map<string, readonly WatchedKindName[]>();
  for (const name of watchedKindNames) {
    const { group, right } = watchedKinds[name];
    const key = `${group} ${right}`;
    groups.set(key, [...(groups.get(key) ?? []), name]);
  }
  return [...groups.values()].flatMap((names) => {
    const [first] = names;
    return first === undefined
      ? []
      : [
          {
            group: watchedKinds[first].group,
            resources: names.map((name) => watchedKinds[name].resource),
            verbs: ["list", "watch"],
            right: watchedKinds[first].right,
            reasons: names.map((name) => reasonsOfKinds[name]),
          },
        ];
  });
}

function ownerReads(): readonly Read[] {
  const groups = new Map<string, { resources: string[]; right: OptionalRight | null }>();
  for (const { group, resource, right } of Object.values(ownerKinds).flat()) {
    const found = groups.get(group);
    if (found === undefined) groups.set(group, { resources: [resource], right });
    else found.resources.push(resource);
  }
  return [...groups].map(([group, { resources, right }]) => ({
    group,
    resources,
    verbs: ["get"],
    right,
    reasons: resources.map(() => owners),
  }));
}

/**
 * A ConfigMap that is read by its name where the configuration names it; the chart has a Role for each (role-configmaps.yaml).
 */
export interface ConfigMapRead {
  /** The path of its namespace and name in the configuration. */
  readonly path: readonly string[];
  readonly reason: ReadReason;
}

/** The ConfigMaps that may be configured; no other ConfigMap is read. */
export const configMapReads: readonly ConfigMapRead[] = [
  {
    path: ["queues", "kueue", "configMap"],
    reason: { purpose: "Kueue's configuration, to say what is wrong in it", exposes: "this one ConfigMap" },
  },
  {
    path: ["queues", "volcano", "configMap"],
    reason: { purpose: "which plugins of Volcano share out", exposes: "this one ConfigMap" },
  },
  {
    path: ["clusterAutoscaler", "statusConfigMap"],
    reason: { purpose: "sizes of node groups", exposes: "this one ConfigMap" },
  },
];
