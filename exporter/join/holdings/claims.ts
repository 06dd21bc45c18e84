import type { AllocatedDevice, ResourceClaim } from "../../model/cluster.ts";
import type { ResourceAmounts } from "../../model/node.ts";
import type { Problem } from "../../model/problem.ts";
import { nvidiaDraDriver } from "../../model/wellKnown.ts";
import { type DraDevices, draDeviceKey } from "../draDevices.ts";
import type { DeviceDraft } from "../drafts.ts";
import { memoryOfModel } from "../gpuModel.ts";
import { type MigGpu, migWeight, sameProfile } from "../mig.ts";
import { settleSlots } from "../migSlots.ts";
import { give, type PodOnNode } from "./podOnNode.ts";
import { isReportedUnhealthy } from "./unhealthyDevices.ts";

/** A claimed share whose device could not be found: only the pod's node is known. */
export interface HomelessShare {
  readonly pod: PodOnNode;
  readonly gpus: number;
}

/** The result of the claims: shares without a known GPU, and physical GPUs by index of the pod. */
export interface ClaimHoldings {
  readonly homeless: HomelessShare[];
  readonly asked: Map<number, number>;
  readonly problems: Problem[];
}

/**
 * Holdings by DRA claim allocation. A claim that several pods share is divided equally among those of them that still hold;
 * monitoring access (`adminAccess`) holds nothing; a device that several claims share is divided by consumed memory. Returns
 * the shares that could not be put on a device, for the estimate by node.
 */
export function holdByClaims(
  claims: readonly ResourceClaim[],
  draDevices: DraDevices,
  devicesOf: (node: string) => readonly DeviceDraft[],
  podsByUid: ReadonlyMap<string, PodOnNode>,
): ClaimHoldings {
  const found: ClaimHoldings = { homeless: [], asked: new Map(), problems: [] };
  const sharers = sharersOf(claims);
  for (const claim of [...claims].sort(byName)) {
    const uids = [...new Set(claim.reservedForPods)].sort();
    const pods = uids.map((uid) => podsByUid.get(uid)).filter((pod) => pod !== undefined);
    const [first] = pods;
    if (first === undefined) continue;
    for (const result of claim.allocated) {
      // One result is one device, however many pods share it: it is placed once.
      const placed = place({ claim, result, sharers }, draDevices, devicesOf(first.node), pods);
      if (placed !== null) record(found, claim, result, pods, placed);
    }
  }
  return found;
}

function byName(a: ResourceClaim, b: ResourceClaim): number {
  const [first, second] = [`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`];
  return first < second ? -1 : first > second ? 1 : 0;
}

function record(
  found: ClaimHoldings,
  claim: ResourceClaim,
  result: AllocatedDevice,
  pods: readonly PodOnNode[],
  placed: Placed,
): void {
  const share = placed.gpus / pods.length;
  // Telemetry has MIG instances without their UUIDs: which one a claim has been given is known only now.
  if (placed.device !== null && pods.some(({ pod }) => isReportedUnhealthy(pod, claim, result))) {
    placed.device.unhealthy = true;
    placed.device.fault ??= "pod_status";
  }
  for (const pod of pods) {
    found.asked.set(pod.index, (found.asked.get(pod.index) ?? 0) + share);
    if (placed.device === null) found.homeless.push({ pod, gpus: share });
    else give(placed.device, { pod: pod.index, share, source: "dra" });
  }
  if (placed.device === null) found.problems.push(notFound(claim, result, pods[0]?.node ?? ""));
}

interface Placed {
  readonly device: DeviceDraft | null;
  readonly gpus: number;
}

/** The number of shares of each device that claims have been given, by the device's key. */
function sharersOf(claims: readonly ResourceClaim[]): ReadonlyMap<string, number> {
  const sharers = new Map<string, number>();
  for (const { driver, pool, device, shareId, adminAccess } of claims.flatMap(({ allocated }) => allocated)) {
    if (shareId === null || adminAccess) continue;
    const key = draDeviceKey(driver, pool, device);
    sharers.set(key, (sharers.get(key) ?? 0) + 1);
  }
  return sharers;
}

interface Granted {
  readonly claim: ResourceClaim;
  readonly result: AllocatedDevice;
  readonly sharers: ReadonlyMap<string, number>;
}

function place(
  { claim, result, sharers }: Granted,
  draDevices: DraDevices,
  devices: readonly DeviceDraft[],
  pods: readonly PodOnNode[],
): Placed | null {
  if (result.adminAccess || !isGpuResult(result, draDevices)) return null;
  const key = draDeviceKey(result.driver, result.pool, result.device);
  const described = draDevices.get(key);
  const labelled = devices.filter((d) =>
    d.reading?.claimants.some((c) => pods.some((pod) => namesClaim(c, claim, pod))),
  );
  const profile = described?.profile ?? profileInName(result.device);
  const ofGpu = devices.filter((d) => described !== undefined && d.uuid === described.gpuUuid);
  const candidates = (described === undefined ? labelled : ofGpu).filter((d) =>
    profile === null ? d.profile === null : d.profile !== null && sameProfile(d.profile, profile),
  );
  const exact = candidates.find((d) => described?.migUuid !== null && d.migUuid === described?.migUuid);
  const unallocated = candidates.filter((d) => d.shares.length === 0);
  const shown = unallocated.find((d) => labelled.includes(d)) ?? candidates.find((d) => labelled.includes(d));
  const device = exact ?? shown ?? unallocated[0] ?? candidates[0] ?? null;
  if (device !== null && described?.migSlots) settleSlots(device, described.migSlots, ofGpu);
  const whole =
    device?.weight ?? (profile === null ? 1 : (migWeight(profile, gpuOfModel(described?.model ?? "")) ?? 1));
  return { device, gpus: whole * consumedPart(result, described?.capacity ?? {}, sharers.get(key) ?? 1) };
}

const gpuOfModel = (model: string): MigGpu => ({ model, memoryBytes: memoryOfModel(model) });

/** Whether an allocated device is a GPU: a slice says so, or (without the slice) the driver does. */
export function isGpuResult(result: AllocatedDevice, draDevices: DraDevices): boolean {
  return result.driver === nvidiaDraDriver || draDevices.has(draDeviceKey(result.driver, result.pool, result.device));
}

function namesClaim(
  claimant: {
    readonly claim: { readonly namespace: string; readonly name: string } | null;
    readonly namespace: string;
    readonly pod: string;
  },
  claim: ResourceClaim,
  pod: PodOnNode,
): boolean {
  if (claimant.claim !== null)
    return claimant.claim.namespace === claim.namespace && claimant.claim.name === claim.name;
  return claimant.namespace === pod.pod.namespace && claimant.pod === pod.pod.name;
}

/**
 * The part of a device that a share is: the largest of the parts that it consumes of the device's capacities (memory, cores,
 * replicas under any name of the driver); a share with unknown consumption is an equal part among the `sharers`.
 */
function consumedPart(result: AllocatedDevice, capacity: ResourceAmounts, sharers: number): number {
  if (result.shareId === null) return 1;
  let part = 0;
  for (const [name, consumed] of Object.entries(result.consumedCapacity)) {
    const own = name.startsWith(`${result.driver}/`) ? name.slice(result.driver.length + 1) : name;
    const has = capacity[own] ?? 0;
    if (has > 0) part = Math.max(part, consumed / has);
  }
  return part > 0 ? Math.min(1, part) : 1 / sharers;
}

/** `gpu-1-mig-2g47gb-14-0` -> `2g47gb`: the driver's device names carry the profile. */
function profileInName(device: string): string | null {
  return /^gpu-\d+-mig-([0-9a-z.]+)-\d+-\d+$/.exec(device)?.[1] ?? null;
}

function notFound(claim: ResourceClaim, result: AllocatedDevice, node: string): Problem {
  return {
    source: "join",
    code: "claim-device-unknown",
    severity: "warning",
    subject: `${claim.namespace}/${claim.name}`,
    message: `claim ${claim.namespace}/${claim.name} holds device ${result.pool}/${result.device}, which no ResourceSlice describes; its GPU on node ${node} is estimated`,
    nextStep:
      "Check that Fairlead may list resourceslices (resource.k8s.io) and that the DRA driver's plugin runs on the node.",
  };
}
