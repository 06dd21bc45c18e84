import { isWorseCapacity } from "../../../exporter/advice/planner/moveField.ts";
import type { ClusterState, ObjectKind } from "../../../exporter/model/cluster.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import type { Advice, Recommendation } from "../../../exporter/model/recommendation.ts";
import type { TelemetryPage } from "../../../exporter/model/telemetry.ts";
import { decodeNode } from "../../../exporter/sources/kubernetes/decodeCluster.ts";
import type { Decoded } from "../../../exporter/sources/kubernetes/decoded.ts";
import { decodePod } from "../../../exporter/sources/kubernetes/decodePod.ts";
import {
  decodePersistentVolume,
  decodePersistentVolumeClaim,
} from "../../../exporter/sources/kubernetes/decodeVolumes.ts";
import { createPodColumns } from "../../../exporter/sources/kubernetes/podColumns.ts";
import { lookedAtNamespaces } from "../../../exporter/sources/kubernetes/podTable.ts";
import { uuidFrom } from "../../../simulator/random.ts";
import { bareReading, claimant, cluster, everyKind, now, page } from "../../join/clusterBuilder.ts";
import { analysisAt, momentOf } from "../usage/watchedCluster.ts";
import { adviceOf } from "../wholeAdvice.ts";
import { type DrawnCluster, volumeBodies } from "./drawnCluster.ts";

/** What these tests read of a cluster. */
export type ReadParts = Pick<
  ClusterState,
  "nodes" | "pods" | "persistentVolumeClaims" | "persistentVolumes" | "requestsByNode"
> &
  Partial<Pick<ClusterState, "neighbors">>;

/** The cluster as Fairlead would read it from a file. */
export function readObjects({ nodes, pods, volumes }: DrawnCluster): ReadParts {
  const columns = createPodColumns();
  const gpuPods: Pod[] = [];
  for (const pod of pods) {
    const isBound = pod.spec.nodeName !== undefined;
    const creationTimestamp = new Date((now - 600) * 1000).toISOString();
    const conditions = [{ type: "PodScheduled", status: "True", lastTransitionTime: creationTimestamp }];
    const status = isBound ? { phase: "Running", conditions } : { phase: "Pending" };
    const decoded = must(
      decodePod({
        ...pod,
        metadata: { ...pod.metadata, uid: uuidFrom(`pod ${pod.metadata.name}`), creationTimestamp },
        status,
      }),
    );
    columns.put(decoded.pod);
    if (decoded.gpuPod !== null) gpuPods.push(decoded.gpuPod);
  }
  const bodies = volumes.map(volumeBodies);
  return {
    nodes: nodes.map((node) => must(decodeNode(node))),
    pods: gpuPods,
    persistentVolumeClaims: bodies.map(({ claim }) => must(decodePersistentVolumeClaim(claim))),
    persistentVolumes: bodies.map(({ volume }) => must(decodePersistentVolume(volume))),
    neighbors: columns.neighbors(lookedAtNamespaces(gpuPods)),
    requestsByNode: columns.requestsByNode(),
  };
}

function must<T>(decoded: Decoded<T>): T {
  if (!decoded.ok) throw new Error(decoded.problem.message);
  return decoded.value;
}

const pool = {
  name: "gpu",
  limits: {},
  consolidationPolicy: "WhenEmpty",
  consolidateAfterSeconds: 30,
  capacityTypes: null,
  replicas: null,
} as const;

/** What of a cluster is advised that moves pods; exporters say on which GPUs they are. */
export const plansOf = (read: ReadParts, at: number = now): readonly Recommendation[] =>
  allAdviceOf(read, at).recommendations.filter(({ kind }) => kind === "defragment" || kind === "unblock_gang");

/** All that is advised, and what is withheld; kinds that are not in `unknown` were read. */
export function allAdviceOf(read: ReadParts, at: number = now, unknown: readonly ObjectKind[] = []): Advice {
  const state = cluster({
    ...read,
    karpenterNodePools: [pool],
    known: new Set([...everyKind, ...alsoRead].filter((kind) => !unknown.includes(kind))),
    telemetry: read.nodes.map(({ name }) => pageOf(name, read.pods, at)),
  });
  return adviceOf(momentOf(analysisAt(state, at)));
}

const alsoRead: readonly ObjectKind[] = ["karpenterNodePools", "persistentVolumeClaims", "persistentVolumes"];

/** GPUs are given out in the order of the pods' names. */
function pageOf(node: string, pods: readonly Pod[], at: number): TelemetryPage {
  const own = pods.filter(({ nodeName }) => nodeName === node).sort((a, b) => (a.name < b.name ? -1 : 1));
  const physicalGpus = own.flatMap((pod) =>
    Array.from({ length: pod.gpu.resources["nvidia.com/gpu"] ?? 0 }, () => pod),
  );
  const readings = [0, 1, 2, 3].map((physicalGpu) => {
    const pod = physicalGpus[physicalGpu];
    const claimants = pod === undefined ? [] : [claimant(pod.name, { namespace: pod.namespace })];
    const activity = pod === undefined ? 0 : 0.9;
    return bareReading(`GPU-${node}-${physicalGpu}`, { smActive: activity, gpuUtil: activity, claimants });
  });
  return page(node, readings, { receivedAt: at });
}

/** Capacity of a node by its label, as `isWorseCapacity` asks for it. */
export function leadsToWorse(drawn: DrawnCluster, from: string, to: string): boolean {
  const typeOf = (name: string) => {
    const type = drawn.nodes.find(({ metadata }) => metadata.name === name)?.metadata.labels[
      "karpenter.sh/capacity-type"
    ];
    return { capacityType: type === "spot" || type === "on-demand" ? type : null } as const;
  };
  return isWorseCapacity(typeOf(from), typeOf(to));
}
