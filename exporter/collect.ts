import type { ClusterState } from "./model/cluster.ts";
import type { PriceList } from "./model/prices.ts";
import type { ServingPage } from "./model/serving.ts";
import type { DcgmState } from "./sources/dcgm/dcgmSource.ts";
import { preferPages } from "./sources/dcgm/preferPages.ts";
import { watchedKindNames } from "./sources/kubernetes/kinds.ts";
import type { KubernetesState } from "./sources/kubernetes/state.ts";
import type { ServingState } from "./sources/serving/servingSource.ts";

/**
 * Returns what all sources know now, as one state of the cluster. If a pod has several pages, that of the best source counts.
 */
export function collect(
  objects: KubernetesState,
  telemetry: readonly DcgmState[],
  prices: PriceList,
  serving: readonly ServingState[],
): ClusterState {
  return {
    nodes: objects.nodes,
    pods: objects.pods,
    namespaces: objects.namespaces,
    priorityClasses: objects.priorityClasses,
    podDisruptionBudgets: objects.podDisruptionBudgets,
    horizontalPodAutoscalers: objects.horizontalPodAutoscalers,
    scaledObjects: objects.scaledObjects,
    verticalPodAutoscalers: objects.verticalPodAutoscalers,
    resourceClaims: objects.resourceClaims,
    resourceSlices: objects.resourceSlices,
    owners: objects.owners,
    queues: objects.queues,
    schedulerSettings: objects.schedulerSettings,
    kueuePendingWorkloads: objects.kueuePendingWorkloads,
    evictions: objects.evictions,
    requestsByNode: objects.requestsByNode,
    deviceTaintRules: objects.deviceTaintRules,
    karpenterNodePools: objects.karpenterNodePools,
    persistentVolumeClaims: objects.persistentVolumeClaims,
    persistentVolumes: objects.persistentVolumes,
    ...(objects.neighbors === undefined ? {} : { neighbors: objects.neighbors }),
    autoscalerNodeGroups: objects.autoscalerNodeGroups,
    exporterPods: ofDevices(objects.exporterPods),
    prices,
    known: objects.known,
    unreadable: new Set(watchedKindNames.filter((kind) => !objects.known.has(kind))),
    ...(serving.length === 0 ? {} : { serving: bestPages(serving) }),
    telemetry: preferPages(telemetry.map(({ pages }) => pages)),
    problems: [],
  };
}

function ofDevices(pods: KubernetesState["exporterPods"]): KubernetesState["exporterPods"] {
  return pods.some(({ isOfProcesses }) => isOfProcesses === true)
    ? pods.filter(({ isOfProcesses }) => isOfProcesses !== true)
    : pods;
}

function bestPages(serving: readonly ServingState[]): readonly ServingPage[] {
  const pages = new Map<string, ServingPage>();
  for (const state of serving) for (const page of state.pages) if (!pages.has(page.pod)) pages.set(page.pod, page);
  return [...pages.values()];
}
