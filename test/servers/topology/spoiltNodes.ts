import { z } from "zod";
import type { Admin } from "../kubernetesAdmin.ts";
import { cordon } from "../queues/gpuNodes.ts";
import { rewrite } from "../queues/rewrite.ts";
import { levels, namespace } from "./rackObjects.ts";

const node = z.looseObject({
  metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }),
  status: z.looseObject({ allocatable: z.record(z.string(), z.string()) }),
});
const gpu = "nvidia.com/gpu";
const pathOf = (name: string): string => `/api/v1/nodes/${name}`;

/** Makes a node useless for gangs in one of the ways in which nodes are. */
type Spoil = (admin: Admin, name: string) => Promise<void>;

export const cordoned: Spoil = cordon;

export const notReady: Spoil = (admin, name) => {
  const conditions = [{ type: "Ready", status: "False", reason: "KubeletNotReady", message: "it is broken" }];
  return rewrite(admin, pathOf(name), node, (one) => ({ ...one, status: { ...one.status, conditions } }), "/status");
};

export const withoutLabel: Spoil = (admin, name) =>
  rewrite(admin, pathOf(name), node, ({ metadata, ...rest }) => {
    const { [levels.rack]: _, ...labels } = metadata.labels;
    return { ...rest, metadata: { ...metadata, labels } };
  });

/** One of its GPUs is unhealthy, so that the device plugin does not offer it. */
export const withoutGpu: Spoil = (admin, name) =>
  rewrite(
    admin,
    pathOf(name),
    node,
    ({ status, ...rest }) => ({
      ...rest,
      status: { ...status, allocatable: { ...status.allocatable, [gpu]: "3" } },
    }),
    "/status",
  );

/** A pod on a node that has ended: it holds nothing, although it is still there. */
export async function endedPod(admin: Admin, nodeName: string): Promise<void> {
  const name = `ended-${nodeName}`;
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const resources = { requests: { [gpu]: "1" }, limits: { [gpu]: "1" } };
  const pod = await admin.send("POST", pods, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { nodeName, containers: [{ name: "main", image: "none", resources }] },
  });
  await admin.send("PUT", `${pods}/${name}/status`, { ...pod, status: { phase: "Succeeded" } });
}
