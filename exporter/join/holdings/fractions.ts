import type { Pod } from "../../model/pod.ts";
import { type DeviceDraft, freeCapacityOf } from "../drafts.ts";
import { isPlacedBy } from "../trust/placedBy.ts";
import type { HomelessShare } from "./claims.ts";
import { type Fraction, fractionOf, give, gpuGroupsOf, isReservationPod, type PodOnNode } from "./podOnNode.ts";
import { type Reservation, readReservations } from "./reservations.ts";

/**
 * Holdings of fractional pods through the reservation pods of their groups: reservation -> GPU -> group -> pods.
 * Pods that KAI places come first; others in the group have what is left of its GPU. A reserved GPU without a fraction pod is marked, also where only a row names the reservation pod because pods of its
 * namespace were not read; fractions whose GPU is not known are returned for the estimate.
 */
export function holdByReservations(
  devices: readonly DeviceDraft[],
  pods: readonly PodOnNode[],
  reservationPods: readonly Pod[],
  isRead: (namespace: string) => boolean,
): readonly HomelessShare[] {
  const reservations = readReservations(reservationPods, devices);
  const homeless: HomelessShare[] = [];
  const isKai = ({ pod }: PodOnNode): boolean => isPlacedBy("kai", pod);
  for (const pod of [...pods.filter(isKai), ...pods.filter((one) => !isKai(one))]) {
    const fraction = pod.kind === "fraction" ? fractionOf(pod.pod) : null;
    if (fraction === null) continue;
    const physicalGpus = gpusOfGroups(devices, reservations, gpuGroupsOf(pod.pod)).slice(0, fraction.devices);
    for (const physicalGpu of physicalGpus) holdFraction(physicalGpu, pod, fraction);
    const gpus = fraction.gpus ?? memoryShare(fraction.memoryMiB, devices[0]);
    const missing = fraction.devices - physicalGpus.length;
    if (missing > 0 && gpus !== null) homeless.push({ pod, gpus: gpus * missing });
  }
  for (const device of devices) {
    const isReserved =
      reservations.some((r) => r.uuid !== null && r.uuid === device.uuid) ||
      device.reading?.claimants.some((c) => isReservationPod(c) && !isRead(c.namespace)) === true;
    device.orphanReservation = device.shares.length === 0 && isReserved;
  }
  return homeless;
}

function gpusOfGroups(
  devices: readonly DeviceDraft[],
  reservations: readonly Reservation[],
  groups: readonly string[],
): readonly DeviceDraft[] {
  const reserved = new Set(reservations.filter((r) => r.group !== null && groups.includes(r.group)).map((r) => r.uuid));
  return devices.filter((d) => d.uuid !== null && d.gpuInstance === null && reserved.has(d.uuid));
}

function holdFraction(physicalGpu: DeviceDraft, pod: PodOnNode, fraction: Fraction): void {
  const known = fraction.gpus ?? memoryShare(fraction.memoryMiB, physicalGpu);
  const wanted = known ?? physicalGpu.weight;
  const share = isPlacedBy("kai", pod.pod) ? wanted : Math.min(wanted, freeCapacityOf(physicalGpu));
  if (share <= 0) return;
  give(physicalGpu, {
    pod: pod.index,
    share,
    source: "reservation",
    estimated: known === null,
    spread: false,
    processUtil: null,
  });
}

function memoryShare(memoryMiB: number | null, physicalGpu: DeviceDraft | undefined): number | null {
  if (
    memoryMiB === null ||
    physicalGpu === undefined ||
    physicalGpu.memoryBytes === null ||
    physicalGpu.memoryBytes <= 0
  )
    return null;
  return Math.min(1, (memoryMiB * 1024 * 1024) / physicalGpu.memoryBytes);
}
