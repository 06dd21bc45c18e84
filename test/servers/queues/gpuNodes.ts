import { z } from "zod";
import type { Admin } from "../kubernetesAdmin.ts";

/** A node as kubelet, NVIDIA's device plugin and its feature discovery would describe it. */
export interface GpuNode {
  readonly name: string;
  /** `nvidia.com/gpu.product`. */
  readonly product: string;
  readonly gpus: number;
  /** More labels, such as its capacity type. */
  readonly labels?: Readonly<Record<string, string>>;
}

const tainted = z.looseObject({ spec: z.looseObject({ taints: z.unknown().optional() }) });

/** Creates ready nodes. The API server taints a new node as not ready, which a controller would undo: done here. */
export async function createGpuNodes(admin: Admin, nodes: readonly GpuNode[]): Promise<void> {
  for (const node of nodes) {
    const { name } = node;
    const made = await admin.send("POST", "/api/v1/nodes", nodeObject(node));
    const { spec, ...rest } = tainted.parse(made);
    const { taints: _, ...untainted } = spec;
    await admin.send("PUT", `/api/v1/nodes/${name}`, { ...rest, spec: untainted });
  }
}

/** Lets no more pods onto a node. */
export async function cordon(admin: Admin, name: string): Promise<void> {
  const path = `/api/v1/nodes/${name}`;
  const { spec, ...rest } = tainted.parse(await admin.send("GET", path));
  await admin.send("PUT", path, { ...rest, spec: { ...spec, unschedulable: true } });
}

function nodeObject({ name, product, gpus, labels = {} }: GpuNode): object {
  const resources = {
    cpu: "128",
    memory: "1Ti",
    pods: "110",
    "ephemeral-storage": "1Ti",
    "nvidia.com/gpu": String(gpus),
  };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.count": String(gpus),
        "nvidia.com/gpu.product": product,
        "nvidia.com/gpu.replicas": "1",
        "nvidia.com/gpu.sharing-strategy": "none",
        "nvidia.com/mig.strategy": "single",
        ...labels,
      },
    },
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: [
        { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" },
      ],
    },
  };
}
