import type { Pod } from "../../model/pod.ts";
import type { Problem } from "../../model/problem.ts";
import { reservationNamespaces } from "../../model/wellKnown.ts";
import type { ShareDraft } from "../drafts.ts";
import { allocatedOf, type DeviceDraft } from "../drafts.ts";
import type { GpuUnit } from "../gpuUnits.ts";
import { shownGpus } from "../shownGpus.ts";
import { isPlacedBy } from "../trust/placedBy.ts";
import { allocationText } from "./allocations.ts";
import { fractionOf, gpuGroupsOf } from "./fractions.ts";

/** What a pod asks for by request and has no device for yet. */
export interface OpenRequest {
  readonly resource: string;
  /** Physical GPUs per unit; for MIG instances the mean of those without a known holder, once that is known. */
  gpusPerUnit: number;
  readonly profile: string | null;
  units: number;
  /** Physical GPUs of the units that a device was found for: by the request itself, of a MIG instance by the layout of its GPU. */
  placed: number;
}

/** A pod that is bound to a node and has not ended, while its devices are being found. */
export interface PodOnNode {
  /** Index of the pod in the Snapshot. */
  readonly index: number;
  readonly pod: Pod;
  readonly node: string;
  readonly kind: DemandKind;
  readonly open: OpenRequest[];
}

/** How a pod specifies what it holds, besides the claims that name it. */
export type DemandKind = "claim" | "fraction" | "allocation" | "request";

/** Facts about a node that confirm annotations of its pods. */
export interface NodeWitness {
  /** The register of a sharing plugin (HAMi, Volcano's vGPU): it gives out parts of this node's GPUs. */
  readonly isShared: boolean;
  /** Groups of the reservation pods on the node; `null` where pods of their namespaces were not read. */
  readonly groups: ReadonlySet<string> | null;
}

/** The facts where nothing can confirm annotations yet: the pod waits, or its node is not known. */
export const noWitness: NodeWitness = { isShared: false, groups: null };

/**
 * Which specification of a pod's holding counts. A request that a claim serves (extended resources on DRA) is never used; one
 * beside other claims (a network GPU by DRA) is. Annotations are the author's own words: a fraction counts only without a
 * request (KAI refuses both), and if a reservation pod on its node keeps a GPU for the group of the pod: anybody who creates a
 * pod may name both KAI as its scheduler and a node, so that these count as evidence only if reservations are not known. An
 * allocation counts only beside a request, on a node that a sharing plugin has registered.
 */
export function demandKind(pod: Pod, { isShared, groups }: NodeWitness): DemandKind {
  if (pod.gpu.extendedResourceClaim !== null) return "claim";
  const requests = Object.values(pod.gpu.resources).some((units) => units > 0);
  if (!requests && pod.gpu.claims.length > 0) return "claim";
  if (!requests && fractionOf(pod) !== null && isFraction(pod, groups)) return "fraction";
  if (requests && isShared && allocationText(pod) !== undefined) return "allocation";
  return "request";
}

const isFraction = (pod: Pod, groups: NodeWitness["groups"]): boolean =>
  groups === null ? isPlacedBy("kai", pod) : groups.size > 0 && gpuGroupsOf(pod).some((group) => groups.has(group));

/** Whether a pod is in a namespace where KAI and Run:ai keep the pods that reserve GPUs; this does not make it one. */
export function isReservationPod(pod: { readonly namespace: string }): boolean {
  return reservationNamespaces.has(pod.namespace);
}

/** The requests of a pod in the units of its node; resources that have no meaning on the node are `unknown`. */
export function openRequests(
  pod: Pod,
  unitOf: (resource: string) => GpuUnit | undefined,
): { readonly open: OpenRequest[]; readonly unknown: readonly string[] } {
  const open: OpenRequest[] = [];
  const unknown: string[] = [];
  for (const [resource, units] of Object.entries(pod.gpu.resources)) {
    if (units <= 0) continue;
    const unit = unitOf(resource);
    if (unit === undefined || unit.gpus === null) unknown.push(resource);
    else open.push({ resource, gpusPerUnit: unit.gpus, profile: unit.profile, units, placed: 0 });
  }
  return { open, unknown };
}

/** A share to give to a pod; unless it is marked otherwise, its pod and amount are known. */
type GivenShare = Pick<ShareDraft, "pod" | "share" | "source"> &
  Partial<Pick<ShareDraft, "estimated" | "spread" | "processUtil">>;

/** Gives a pod a share of a device; shares of one pod on one device that are known in the same way add up. */
export function give(device: DeviceDraft, given: GivenShare): void {
  const share: ShareDraft = { estimated: false, spread: false, processUtil: null, ...given };
  const same = device.shares.find(
    (s) =>
      s.pod === share.pod && s.source === share.source && s.spread === share.spread && s.estimated === share.estimated,
  );
  if (same === undefined) device.shares.push(share);
  else same.share += share.share;
}

/**
 * No GPU is allocated more than once: if several sources allocate more than a whole device, all shares are scaled down
 * together, marked as estimated, and the conflict is reported with both amounts.
 */
export function scaleDownOverallocated(
  devices: readonly DeviceDraft[],
  podName: (pod: number) => string,
): readonly Problem[] {
  const problems: Problem[] = [];
  for (const device of devices) {
    const allocated = allocatedOf(device);
    if (allocated <= device.weight) continue;
    // Fractions that add up to slightly more than a GPU (3 x 0.333334) are no conflict, but the accounts must add up
    // exactly.
    const conflict = allocated > device.weight + 1e-6;
    for (const share of device.shares) {
      share.share *= device.weight / allocated;
      share.estimated ||= conflict;
    }
    if (!conflict) continue;
    const pods = [...new Set(device.shares.map((s) => podName(s.pod)))].slice(0, 5).join(", ");
    problems.push({
      source: "join",
      code: "allocated-twice",
      severity: "warning",
      subject: device.node,
      message: `node ${device.node}: ${device.uuid ?? "a GPU"} is ${shownGpus(device.weight)} GPU and is given to ${pods} for ${shownGpus(allocated)}; scaled down together`,
      nextStep:
        "If the GPU is shared on purpose, let the node say so: label nvidia.com/gpu.replicas, or gpu.replicas in the configuration.",
    });
  }
  return problems;
}
