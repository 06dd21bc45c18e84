import type { Admin } from "../kubernetesAdmin.ts";
import { createGpuNodes } from "../queues/gpuNodes.ts";

/** Labels of the levels of the cluster's Topology, the largest domains first. */
export const levels = {
  block: "topology.example.com/block",
  rack: "topology.example.com/rack",
  node: "kubernetes.io/hostname",
} as const;

/** Racks of the cluster, its nodes of one rack, its GPUs of one node, and its racks of one block. */
export const racks = 33;
export const nodesPerRack = 18;
export const gpusPerNode = 4;
const racksPerBlock = 11;

/** Two digits, so that names sort as numbers do. */
const two = (index: number): string => String(index).padStart(2, "0");

/** Name of a rack, of the block that it is in, and of a node of it. */
export const rackName = (rack: number): string => `rack-${two(rack)}`;
export const blockOf = (rack: number): string => `block-${Math.floor(rack / racksPerBlock)}`;
export const nodeName = (rack: number, node: number): string => `node-${two(rack)}-${two(node)}`;

/** The number of the rack that a node is in, by the node's name. */
export const rackOfNode = (name: string): number => Number(name.split("-")[1]);

/** The API version of Kueue's objects, the namespace of all work, the queue of the gangs, and the pool of their nodes. */
export const api = "kueue.x-k8s.io/v1beta2";
export const namespace = "research";
export const queue = "gangs";
export const product = "NVIDIA-GB200";

/** A node of its own and the queue for it, by which a test finds out what Kueue has seen; it has so many GPUs. */
export const sentinel = "sentinel";
export const sentinelGpus = 64;

/** Calls a function for each entry, a few at a time: the API server has a client's eight connections. */
export async function forAll<T>(entries: readonly T[], call: (entry: T) => Promise<unknown>): Promise<void> {
  const left = [...entries];
  const one = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await call(next);
  };
  await Promise.all(Array.from({ length: 8 }, one));
}

/** Makes the nodes of all racks, and the sentinel. */
export async function makeNodes(admin: Admin): Promise<void> {
  await forAll([...Array(racks).keys()], (rack) =>
    createGpuNodes(
      admin,
      Array.from({ length: nodesPerRack }, (_, node) => ({
        name: nodeName(rack, node),
        product,
        gpus: gpusPerNode,
        labels: { "example.com/nodes": queue, [levels.block]: blockOf(rack), [levels.rack]: rackName(rack) },
      })),
    ),
  );
  await createGpuNodes(admin, [
    { name: sentinel, product: "NVIDIA-L4", gpus: sentinelGpus, labels: { "example.com/nodes": sentinel } },
  ]);
}

/** Makes the Topology and a queue whose quota is beyond what the nodes have, and the same for the sentinel. */
export async function makeQueues(admin: Admin): Promise<void> {
  await admin.send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  const make = (plural: string, kind: string, name: string, spec: object, where = "") =>
    admin.send("POST", `/apis/${api}/${where}${plural}`, { apiVersion: api, kind, metadata: { name }, spec });
  const labelsOf = { [queue]: [levels.block, levels.rack, levels.node], [sentinel]: [levels.node] };
  for (const [name, labels] of Object.entries(labelsOf)) {
    await make("topologies", "Topology", name, { levels: labels.map((nodeLabel) => ({ nodeLabel })) });
    const nodeLabels = { "example.com/nodes": name };
    await make("resourceflavors", "ResourceFlavor", name, { nodeLabels, topologyName: name });
    const resources = [{ name: "nvidia.com/gpu", nominalQuota: "100000" }];
    await make("clusterqueues", "ClusterQueue", name, {
      namespaceSelector: {},
      resourceGroups: [{ coveredResources: ["nvidia.com/gpu"], flavors: [{ name, resources }] }],
    });
    await make("localqueues", "LocalQueue", name, { clusterQueue: name }, `namespaces/${namespace}/`);
  }
}
