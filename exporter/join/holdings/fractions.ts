import type { Pod } from "../../model/pod.ts";
import { type DeviceDraft, roomOf } from "../drafts.ts";
import { isPlacedBy } from "../trust/placedBy.ts";
import type { HomelessShare } from "./claims.ts";
import { type Fraction, fractionOf, give, gpuGroupsOf, isReservationPod, type PodOnNode } from "./podOnNode.ts";
import { type Reservation, readReservations } from "./reservations.ts";

/**
 * Holdings of fractional pods through the reservation pods of their groups: reservation -> card -> group -> pods.
 * Pods that KAI places come first; others in the group have what is left of its card. A reserved card without a fraction pod is marked, also where only a row names the reservation pod because pods of its
 * namespace were not read; fractions whose card is not known are returned for the estimate.
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
    const cards = cardsOfGroups(devices, reservations, gpuGroupsOf(pod.pod)).slice(0, fraction.devices);
    for (const card of cards) holdFraction(card, pod, fraction);
    const gpus = fraction.gpus ?? memoryShare(fraction.memoryMiB, devices[0]);
    const missing = fraction.devices - cards.length;
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

function cardsOfGroups(
  devices: readonly DeviceDraft[],
  reservations: readonly Reservation[],
  groups: readonly string[],
): readonly DeviceDraft[] {
  const reserved = new Set(reservations.filter((r) => r.group !== null && groups.includes(r.group)).map((r) => r.uuid));
  return devices.filter((d) => d.uuid !== null && d.gpuInstance === null && reserved.has(d.uuid));
}

function holdFraction(card: DeviceDraft, pod: PodOnNode, fraction: Fraction): void {
  const known = fraction.gpus ?? memoryShare(fraction.memoryMiB, card);
  const wanted = known ?? card.weight;
  const share = isPlacedBy("kai", pod.pod) ? wanted : Math.min(wanted, roomOf(card));
  if (share <= 0) return;
  give(card, {
    pod: pod.index,
    share,
    source: "reservation",
    estimated: known === null,
    spread: false,
    processUtil: null,
  });
}

function memoryShare(memoryMiB: number | null, card: DeviceDraft | undefined): number | null {
  if (memoryMiB === null || card === undefined || card.memoryBytes === null || card.memoryBytes <= 0) return null;
  return Math.min(1, (memoryMiB * 1024 * 1024) / card.memoryBytes);
}
