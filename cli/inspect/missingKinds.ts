import type { ClusterState, OwnerObject } from "../../exporter/model/cluster.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import type { Problem } from "../../exporter/model/problem.ts";
import { nodeLabels, podAnnotations, podLabels } from "../../exporter/model/wellKnown.ts";
import { type WatchedKindName, watchedKinds } from "../../exporter/sources/kubernetes/kinds.ts";
import { resourceName } from "../../exporter/sources/kubernetes/rights.ts";

type Objects = Pick<ClusterState, "nodes" | "pods" | "owners" | "queues" | "known">;

/**
 * Kinds that belong together, whether a dump's other objects suggest that the cluster has them, and what is unknown without
 * them.
 */
interface KindsOfOne {
  readonly kinds: readonly WatchedKindName[];
  readonly isLikely: (objects: Objects) => boolean;
  readonly unknown: string;
}

const queuesUnknown = "who waits in which of its queues, and who is entitled to what, is not known";

const groupSizeUnknown = "how many pods of such a group must run together is not known";

const marked =
  (...keys: readonly string[]) =>
  ({ pods, owners }: Objects): boolean =>
    [...pods, ...owners].some(({ labels, annotations }) => keys.some((key) => key in labels || key in annotations));

/** Controllers that autoscalers scale, directly or through their owner. */
const scalableOwners: ReadonlySet<string> = new Set(["ReplicaSet", "StatefulSet"]);

const kindsOfOne: readonly KindsOfOne[] = [
  {
    kinds: ["podDisruptionBudgets"],
    isLikely: ({ pods }) => pods.some(({ nodeName }) => nodeName !== null),
    unknown: "which pods must not be evicted is not known, so that no pod is advised to be moved",
  },
  {
    kinds: ["persistentVolumeClaims", "persistentVolumes"],
    isLikely: ({ pods }) => pods.some(({ nodeName, volumeClaims }) => nodeName !== null && volumeClaims !== undefined),
    unknown:
      "which nodes can attach the volumes of pods is not known, so that no pod with a claim is advised to be moved",
  },
  {
    kinds: ["karpenterNodePools"],
    isLikely: ({ nodes }) => nodes.some(({ labels }) => nodeLabels.karpenterNodePool in labels),
    unknown: "how far Karpenter fills its NodePools, and when it takes nodes away, is not known",
  },
  {
    kinds: ["horizontalPodAutoscalers"],
    isLikely: ({ pods }) => pods.some(({ owner }) => owner !== null && scalableOwners.has(owner.kind)),
    unknown: "what would wake work that serves requests is not known, so that none is advised to be stopped",
  },
  {
    kinds: ["kueueClusterQueues", "kueueLocalQueues", "kueueWorkloads"],
    isLikely: marked(podLabels.kueueQueue, podLabels.kueueLocalQueue, podLabels.kueueClusterQueue),
    unknown: queuesUnknown,
  },
  {
    kinds: ["kueueAdmissionChecks"],
    isLikely: ({ queues }) => queues.kueueWorkloads.some(({ checks }) => checks !== undefined),
    unknown: "whether work with quota waits for nodes to come or for another cluster is not known",
  },
  {
    kinds: ["kaiQueues", "kaiPodGroups"],
    isLikely: marked(podLabels.kaiQueue, podLabels.runaiQueue),
    unknown: queuesUnknown,
  },
  {
    kinds: ["volcanoQueues", "volcanoPodGroups"],
    isLikely: marked(podLabels.volcanoQueue, podAnnotations.volcanoQueue, podAnnotations.volcanoGroup),
    unknown: queuesUnknown,
  },
  {
    kinds: ["nativePodGroups"],
    isLikely: ({ pods }) => pods.some(({ schedulingGroup }) => schedulingGroup?.workload === null),
    unknown: groupSizeUnknown,
  },
  {
    kinds: ["coschedulingPodGroups"],
    isLikely: marked(podLabels.coschedulingGroup),
    unknown: groupSizeUnknown,
  },
];

/** The problems of kinds that are missing from a dump although its other objects suggest them. */
export function missingKinds(objects: Objects): readonly Problem[] {
  const lines = kindsOfOne.flatMap(({ kinds, isLikely, unknown }) => {
    const names = kinds.filter((kind) => !objects.known.has(kind)).map(nameOf);
    return names.length > 0 && isLikely(objects) ? [missing(names, unknown)] : [];
  });
  return [...lines, ...missingOwners(objects)];
}

function nameOf(kind: WatchedKindName): string {
  const { group, resource } = watchedKinds[kind];
  return resourceName(group, resource);
}

function missing(names: readonly string[], unknown: string): Problem {
  return {
    source: "inspect",
    code: "kinds-not-in-dump",
    severity: "warning",
    subject: names[0] ?? null,
    message: `the dump has no ${names.join(", ")}: ${unknown}`,
    nextStep: `Add them, where the cluster has them: ${names.map((name) => `kubectl get ${name} -A -o json > ${name}.json`).join("; ")}`,
  };
}

function missingOwners({ pods, owners }: Objects): readonly Problem[] {
  const known = new Set([...pods, ...owners].map(({ uid }) => uid));
  const kinds = new Set(
    [...pods, ...owners].flatMap(({ owner }: Pod | OwnerObject) =>
      owner === null || owner.kind === "Node" || known.has(owner.uid) ? [] : [owner.kind],
    ),
  );
  if (kinds.size === 0) return [];
  return [
    {
      source: "inspect",
      code: "owners-not-in-dump",
      severity: "info",
      subject: null,
      message: `the dump lacks owners of pods with GPUs (${[...kinds].sort().slice(0, 8).join(", ")}): such work goes by the last owner that is there, and no step of advice on it is known`,
      nextStep: "Add the objects of these kinds; docs/inspect.md has a recipe that takes all.",
    },
  ];
}
