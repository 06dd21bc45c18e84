import type { Pod } from "../../model/pod.ts";
import { podAnnotations, podLabels } from "../../model/wellKnown.ts";
import type { DeviceDraft } from "../drafts.ts";
import type { HomelessShare } from "./claims.ts";
import { type Fraction, fractionOf, give, gpuGroupsOf, isReservationPod, type PodOnNode } from "./podOnNode.ts";

/** A reservation pod on a node: the card it keeps, for which group. */
export interface Reservation {
  readonly pod: Pod;
  readonly group: string | null;
  /** UUID of the card, by annotation or by the telemetry row that names the pod; `null` when neither says. */
  readonly uuid: string | null;
}

/** Reads a reservation pod (KAI: annotation `run.ai/reserve_for_gpu_index`; Run:ai samples: the telemetry row). */
export function readReservation(pod: Pod, devices: readonly DeviceDraft[]): Reservation {
  const group = pod.labels[podLabels.kaiGpuGroup] ?? pod.annotations[podAnnotations.kaiGpuGroup] ?? null;
  const annotated = pod.annotations[podAnnotations.kaiReservedGpu];
  const shown = devices.find((d) =>
    d.reading?.claimants.some((c) => c.namespace === pod.namespace && c.pod === pod.name),
  );
  return { pod, group, uuid: annotated?.startsWith("GPU-") ? annotated : (shown?.uuid ?? null) };
}

/**
 * Holdings of fractional pods through the reservation pods of their groups: reservation -> card -> group -> pods.
 * A reserved card without a fraction pod is marked, also where only a row names the reservation pod because pods of its
 * namespace were not read; fractions whose card is not known are returned for the estimate.
 */
export function holdByReservations(
  devices: readonly DeviceDraft[],
  pods: readonly PodOnNode[],
  reservationPods: readonly Pod[],
  isRead: (namespace: string) => boolean,
): readonly HomelessShare[] {
  const reservations = reservationPods.map((pod) => readReservation(pod, devices));
  const homeless: HomelessShare[] = [];
  for (const pod of pods) {
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
  const share = known ?? card.weight;
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
