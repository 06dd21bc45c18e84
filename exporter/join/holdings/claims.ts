import type { AllocatedDevice, ResourceClaim } from "../../model/cluster.ts";
import type { Problem } from "../../model/problem.ts";
import { nvidiaDraDriver } from "../../model/wellKnown.ts";
import { memoryOfModel } from "../cardMemory.ts";
import { type DraDevices, draDeviceKey } from "../draDevices.ts";
import type { DeviceDraft } from "../drafts.ts";
import { type MigCard, migWeight, sameProfile } from "../mig.ts";
import { settleSlots } from "../migSlots.ts";
import { give, type PodOnNode } from "./podOnNode.ts";

/** A claimed share whose device could not be found: the pod's node is all that is known. */
export interface HomelessShare {
  readonly pod: PodOnNode;
  readonly gpus: number;
}

/** What claims give: shares without a card, and physical GPUs per pod index. */
export interface ClaimHoldings {
  readonly homeless: HomelessShare[];
  readonly asked: Map<number, number>;
  readonly problems: Problem[];
}

/**
 * Holdings by DRA claim allocation. A claim that several pods share is divided equally among those of them that still
 * hold; monitoring access (`adminAccess`) holds nothing; a device that several claims share is divided by consumed
 * memory. Returns what could not be put on a device, for the estimate by node.
 */
export function holdByClaims(
  claims: readonly ResourceClaim[],
  draDevices: DraDevices,
  devicesOf: (node: string) => readonly DeviceDraft[],
  podsByUid: ReadonlyMap<string, PodOnNode>,
): ClaimHoldings {
  const found: ClaimHoldings = { homeless: [], asked: new Map(), problems: [] };
  for (const claim of [...claims].sort(byName)) {
    const uids = [...new Set(claim.reservedForPods)].sort();
    const pods = uids.map((uid) => podsByUid.get(uid)).filter((pod) => pod !== undefined);
    const [first] = pods;
    if (first === undefined) continue;
    for (const result of claim.allocated) {
      // One result is one device, however many pods share it: it is placed once.
      const placed = place(claim, result, draDevices, devicesOf(first.node), pods);
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
  for (const pod of pods) {
    found.asked.set(pod.index, (found.asked.get(pod.index) ?? 0) + share);
    if (placed.device === null) found.homeless.push({ pod, gpus: share });
    else
      give(placed.device, { pod: pod.index, share, source: "dra", estimated: false, spread: false, processUtil: null });
  }
  if (placed.device === null) found.problems.push(notFound(claim, result, pods[0]?.node ?? ""));
}

interface Placed {
  readonly device: DeviceDraft | null;
  readonly gpus: number;
}

function place(
  claim: ResourceClaim,
  result: AllocatedDevice,
  draDevices: DraDevices,
  devices: readonly DeviceDraft[],
  pods: readonly PodOnNode[],
): Placed | null {
  if (result.adminAccess || !isGpuResult(result, draDevices)) return null;
  const described = draDevices.get(draDeviceKey(result.driver, result.pool, result.device));
  const labelled = devices.filter((d) =>
    d.reading?.claimants.some((c) => pods.some((pod) => namesClaim(c, claim, pod))),
  );
  const profile = described?.profile ?? profileInName(result.device);
  const ofCard = devices.filter((d) => described !== undefined && d.uuid === described.cardUuid);
  const candidates = (described === undefined ? labelled : ofCard).filter((d) =>
    profile === null ? d.profile === null : d.profile !== null && sameProfile(d.profile, profile),
  );
  const exact = candidates.find((d) => described?.migUuid !== null && d.migUuid === described?.migUuid);
  const unheld = candidates.filter((d) => d.shares.length === 0);
  const shown = unheld.find((d) => labelled.includes(d)) ?? candidates.find((d) => labelled.includes(d));
  const device = exact ?? shown ?? unheld[0] ?? candidates[0] ?? null;
  if (device !== null && described?.migSlots) settleSlots(device, described.migSlots, ofCard);
  const whole =
    device?.weight ?? (profile === null ? 1 : (migWeight(profile, cardOfModel(described?.model ?? "")) ?? 1));
  return { device, gpus: whole * consumedPart(result, described?.memoryBytes ?? null) };
}

const cardOfModel = (model: string): MigCard => ({ model, memoryBytes: memoryOfModel(model) });

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

function consumedPart(result: AllocatedDevice, memoryBytes: number | null): number {
  const consumed = result.consumedCapacity.memory;
  if (result.shareId === null || consumed === undefined || memoryBytes === null || memoryBytes <= 0) return 1;
  return Math.min(1, consumed / memoryBytes);
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
    message: `claim ${claim.namespace}/${claim.name} holds device ${result.pool}/${result.device}, which no ResourceSlice describes; its card on node ${node} is estimated`,
    nextStep:
      "Check that Fairlead may list resourceslices (resource.k8s.io) and that the DRA driver's plugin runs on the node.",
  };
}
