import { readFileSync } from "node:fs";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import { noQueueObjects, type QueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { decodeNamespace, decodeNode } from "../../../exporter/sources/kubernetes/decodeCluster.ts";
import type { Decoded } from "../../../exporter/sources/kubernetes/decoded.ts";
import { decodePod } from "../../../exporter/sources/kubernetes/decodePod.ts";
import {
  decodeClusterQueue,
  decodeCohort,
  decodeLocalQueue,
  decodeResourceFlavor,
} from "../../../exporter/sources/kubernetes/queues/decodeKueueQueues.ts";
import { decodeWorkload } from "../../../exporter/sources/kubernetes/queues/decodeWorkload.ts";
import { cluster } from "../clusterBuilder.ts";

const folder = new URL("../../captured/queues/kueue-0.19/", import.meta.url);

function captured<T>(file: string, decode: (value: unknown) => Decoded<T>): readonly T[] {
  const list = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
  return list.items.map((item: unknown): T => {
    const result = decode(item);
    if (!result.ok) throw new Error(result.problem.message);
    return result.value;
  });
}

/** The objects of a real Kueue, with its API's `version` (`""` or `.v1beta1`) and the reasons of its workloads. */
export function kueueObjects(version: "" | ".v1beta1" = "", workloads = `workloads${version}.json`): QueueObjects {
  return {
    ...noQueueObjects,
    kueueClusterQueues: captured(`clusterQueues${version}.json`, decodeClusterQueue),
    kueueLocalQueues: captured(`localQueues${version}.json`, decodeLocalQueue),
    kueueCohorts: captured(`cohorts${version}.json`, decodeCohort),
    kueueResourceFlavors: captured("resourceFlavors.json", decodeResourceFlavor),
    kueueWorkloads: captured(workloads, (value) => decodeWorkload(value)),
  };
}

/** The cluster of the real Kueue with the pods that its jobs got. */
export function kueueCluster(queues: QueueObjects = kueueObjects()): ClusterState {
  return cluster({
    nodes: captured("nodes.json", decodeNode),
    pods: captured("pods.json", (value) => decodePod(value)).flatMap(({ gpuPod }) => gpuPod ?? []),
    namespaces: captured("namespaces.json", decodeNamespace),
    queues,
  });
}

/** Samples of a metric on Kueue's own page, by its labels as text. */
export function kueueMetric(
  name: string,
): readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[] {
  const page = readFileSync(new URL("metrics.prom", folder), "utf8");
  return page.split("\n").flatMap((line) => {
    const [, labels, value] = new RegExp(`^${name}\\{(.*)\\} (\\S+)$`).exec(line) ?? [];
    if (labels === undefined || value === undefined) return [];
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key ?? "", text ?? ""] as const);
    return [{ labels: Object.fromEntries(pairs), value: value === "+Inf" ? Number.POSITIVE_INFINITY : Number(value) }];
  });
}
