import type { AllocatedDevice, ResourceClaim } from "../../model/cluster.ts";
import type { Pod } from "../../model/pod.ts";
import { type DraDevices, draDeviceKey } from "../draDevices.ts";
import type { PodsOfNode } from "./podsOfNode.ts";

const none: ReadonlySet<string> = new Set();

/**
 * UUIDs of the GPUs and MIG instances that the kubelet of a node reports as unhealthy to the pods that hold them. A claimed device
 * is one of a claim that is reserved for the pod, under a name that the kubelet has for exactly that device; which GPU it is,
 * its ResourceSlice says.
 */
export function unhealthyUuids(
  { pods }: PodsOfNode,
  claims: readonly ResourceClaim[],
  draDevices: DraDevices,
): ReadonlySet<string> {
  const reported = pods.filter(({ gpu }) => gpu.unhealthy !== undefined);
  if (reported.length === 0) return none;
  const claimed = reported.flatMap((pod) =>
    claims.flatMap((claim) => claim.allocated.filter((result) => isReportedUnhealthy(pod, claim, result))),
  );
  const uuids = claimed.flatMap(({ driver, pool, device }) => {
    const found = draDevices.get(draDeviceKey(driver, pool, device));
    return (found?.profile === null ? found.gpuUuid : found?.migUuid) ?? [];
  });
  return new Set([...reported.flatMap(({ gpu }) => gpu.unhealthy ?? []), ...uuids]);
}

/** Whether the kubelet reports the device of a claim as unhealthy to a pod for which the claim is reserved. */
export function isReportedUnhealthy({ uid, gpu }: Pod, claim: ResourceClaim, result: AllocatedDevice): boolean {
  if (gpu.unhealthy === undefined || !claim.reservedForPods.includes(uid)) return false;
  return gpu.unhealthy.some((id) => isNameOf(id, claim, result));
}

/**
 * Whether this status of the kubelet names the device of a claim. The name is the first CDI name that the driver gave the
 * device, which NVIDIA's driver makes of the claim's uid and the device's name (`k8s.gpu.nvidia.com/claim=UID-gpu-0`;
 * GetClaimDeviceName in cdi.go of dra-driver-nvidia-gpu); without any CDI name it consists of driver, pool and device
 * (UpdateAllocatedResourcesStatus in pkg/kubelet/cm/dra).
 */
function isNameOf(id: string, { uid }: ResourceClaim, { driver, pool, device }: AllocatedDevice): boolean {
  if (id === draDeviceKey(driver, pool, device)) return true;
  const vendor = id.slice(0, Math.max(0, id.indexOf("/")));
  return (vendor === driver || vendor.endsWith(`.${driver}`)) && id.endsWith(`=${uid}-${device}`);
}
