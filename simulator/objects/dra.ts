import { nvidiaDraDriver } from "../../exporter/model/wellKnown.ts";
import type { PhysicalGpu, SimClaim, SimNode, SimPod, Workload } from "../cluster/world.ts";
import { isInService } from "../cluster/xid.ts";
import { uuidFrom } from "../random.ts";
import { driverVersion } from "./featureDiscovery.ts";
import { type KubeObject, timestamp } from "./kubeObject.ts";

/** The name of a GPU's device in the pool of the DRA driver. */
export function draDeviceName(physicalGpu: PhysicalGpu): string {
  return `gpu-${physicalGpu.minor}`;
}

/** The slice that lists a node's GPUs; a GPU that is lost is missing from the next generation. */
export function resourceSlice(node: SimNode, generation: number): KubeObject {
  return {
    metadata: {
      name: `${node.spec.name}-${nvidiaDraDriver}-${node.uid.slice(0, 5)}`,
      generateName: `${node.spec.name}-${nvidiaDraDriver}-`,
      uid: uuidFrom(`slice/${node.uid}`),
      creationTimestamp: timestamp(node.createdAt),
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: node.spec.name, uid: node.uid, controller: true }],
    },
    spec: {
      driver: nvidiaDraDriver,
      nodeName: node.spec.name,
      pool: { name: node.spec.name, generation, resourceSliceCount: 1 },
      devices: node.physicalGpus.filter((physicalGpu) => physicalGpu.healthy).map(sliceDevice),
    },
  };
}

function sliceDevice(physicalGpu: PhysicalGpu): object {
  const { model, xid } = physicalGpu;
  return {
    name: draDeviceName(physicalGpu),
    attributes: {
      type: { string: "gpu" },
      uuid: { string: physicalGpu.uuid },
      productName: { string: model.name },
      brand: { string: model.name.startsWith("Tesla") ? "Tesla" : "Nvidia" },
      architecture: { string: model.family },
      cudaComputeCapability: { version: `${model.computeCapability}.0` },
      driverVersion: { version: driverVersion },
      "resource.kubernetes.io/pciBusID": { string: `0000:${(16 + physicalGpu.index * 8).toString(16)}:00.0` },
    },
    capacity: { memory: { value: `${model.memoryMiB}Mi` } },
    ...(xid === null ? {} : { taints: [xidTaint(physicalGpu, xid)] }),
  };
}

/** The taint for an XID error. An error of the application is reported, too, with the effect that keeps no pod away. */
function xidTaint(physicalGpu: PhysicalGpu, { code, at }: NonNullable<PhysicalGpu["xid"]>): object {
  const effect = isInService(physicalGpu) ? "None" : "NoSchedule";
  return { key: "gpu.nvidia.com/xid", value: String(code), effect, timeAdded: timestamp(at) };
}

/** The claim of one pod, made from a template, or by the scheduler for an extended resource. */
export function podClaim(pod: SimPod, claim: SimClaim): KubeObject {
  const { spec, name } = pod.workload;
  const extended = spec.request.kind === "extended-resource";
  const request = extended ? "container-0-request-0" : "gpu";
  const annotation = extended
    ? { "resource.kubernetes.io/extended-resource-claim": "true" }
    : { "resource.kubernetes.io/pod-claim-name": "gpu" };
  const owner = { apiVersion: "v1", kind: "Pod", name: pod.name, uid: pod.uid, controller: true } as const;
  return {
    metadata: {
      name: claim.name,
      ...(extended ? {} : { generateName: `${name}-gpu-` }),
      namespace: spec.namespace,
      uid: claim.uid,
      creationTimestamp: timestamp(claim.createdAt),
      annotations: annotation,
      ownerReferences: [owner],
    },
    ...claimBody(claim, request, countOf(pod.workload), pod, [pod]),
  };
}

/** The named claim that all pods of a workload share. */
export function sharedClaim(workload: Workload, claim: SimClaim): KubeObject {
  const users = workload.pods.filter((pod) => pod.node !== null && pod.endedAt === null);
  return {
    metadata: {
      name: claim.name,
      namespace: workload.spec.namespace,
      uid: claim.uid,
      creationTimestamp: timestamp(claim.createdAt),
    },
    ...claimBody(claim, "gpu", countOf(workload), users[0], users),
  };
}

function countOf(workload: Workload): number {
  const { request } = workload.spec;
  return request.kind === "claim" || request.kind === "extended-resource" ? request.count : 0;
}

function claimBody(
  claim: SimClaim,
  request: string,
  count: number,
  holder: SimPod | undefined,
  users: readonly SimPod[],
): Pick<KubeObject, "spec" | "status"> {
  const exactly = { deviceClassName: nvidiaDraDriver, allocationMode: "ExactCount", count };
  const spec = { devices: { requests: [{ name: request, exactly }] } };
  const node = holder?.node ?? null;
  if (holder === undefined || node === null || claim.allocatedAt === null || holder.endedAt !== null) {
    return { spec, status: {} };
  }
  const physicalGpus = holder.allocations.map((allocation) => allocation.physicalGpu);
  const reservedFor = users.map((pod) => ({ resource: "pods", name: pod.name, uid: pod.uid }));
  return { spec, status: { ...allocationOf(node, physicalGpus, request, claim.allocatedAt, {}), reservedFor } };
}

function allocationOf(
  node: SimNode,
  physicalGpus: readonly PhysicalGpu[],
  request: string,
  at: number,
  extra: object,
): object {
  return {
    allocation: {
      allocationTimestamp: timestamp(at),
      devices: {
        results: physicalGpus.map((physicalGpu) => ({
          request,
          driver: nvidiaDraDriver,
          pool: node.spec.name,
          device: draDeviceName(physicalGpu),
          ...extra,
        })),
      },
      nodeSelector: {
        nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [node.spec.name] }] }],
      },
    },
  };
}

/** The name of the claim with which a node's exporter watches all GPUs. */
export function monitoringClaimName(node: SimNode): string {
  return `${node.exporterPodName}-gpus`;
}

/** The claim with `adminAccess` of the GPU operator's DRA mode: it watches, and holds nothing. */
export function monitoringClaim(node: SimNode, exporterUid: string): KubeObject {
  const request = "all-gpus";
  const exactly = { deviceClassName: nvidiaDraDriver, allocationMode: "All", adminAccess: true };
  return {
    metadata: {
      name: monitoringClaimName(node),
      namespace: "gpu-operator",
      uid: uuidFrom(`monitoring/${node.uid}`),
      creationTimestamp: timestamp(node.createdAt),
    },
    spec: { devices: { requests: [{ name: request, exactly }] } },
    status: {
      ...allocationOf(node, node.physicalGpus, request, node.createdAt, { adminAccess: true }),
      reservedFor: [{ resource: "pods", name: node.exporterPodName, uid: exporterUid }],
    },
  };
}
