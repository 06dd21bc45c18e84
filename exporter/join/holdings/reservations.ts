import type { Pod } from "../../model/pod.ts";
import { podAnnotations, podLabels } from "../../model/wellKnown.ts";
import { type DeviceDraft, freeCapacityOf } from "../drafts.ts";
import { isPlacedBy } from "../trust/placedBy.ts";
import type { HomelessShare } from "./claims.ts";
import { type Fraction, fractionOf, give, gpuGroupsOf, isReservationPod, type PodOnNode } from "./podOnNode.ts";

/** A reservation pod on a node: the GPU it keeps, for which group. */
interface Reservation {
  readonly pod: Pod;
  readonly group: string | null;
  /** UUID of the GPU, by the telemetry row that names the pod or by annotation; `null` when neither says. */
  readonly uuid: string | null;
}

/** The group of fractions for which a reservation pod keeps its GPU; `null` where it names none. */
export const reservedGroup = ({ labels, annotations }: Pod): string | null =>
  labels[podLabels.kaiGpuGroup] ?? annotations[podAnnotations.kaiGpuGroup] ?? null;

/** Pods of one node in the namespaces of reservations. */
export interface ReservationPods {
  readonly reservations: readonly Pod[];
  /** Those of `reservations` that keep a GPU for nobody, which happens for a moment to each of KAI's. */
  readonly unserved: readonly Pod[];
  /** The pods that are not reservation pods. */
  readonly others: readonly Pod[];
}

/**
 * Which pods of the namespaces of reservations are reservation pods. Anybody who can create such a namespace can fill it. A
 * pod there is a reservation pod if a fraction that KAI places on the same node is in its group, or, while it keeps a GPU for
 * nobody, if KAI is installed (`hasKai`) and the pod asks for one GPU, as each of KAI's does. KAI keeps one GPU for each
 * group, so that of several pods for one group only the oldest is one: the author of another must know the group. All others
 * hold what they request.
 */
export function reservationsAmong(candidates: readonly Pod[], pods: readonly Pod[], hasKai: boolean): ReservationPods {
  if (candidates.length === 0) return { reservations: candidates, unserved: [], others: [] };
  const served = new Set(
    pods.filter((pod) => isPlacedBy("kai", pod) && fractionOf(pod) !== null).flatMap((pod) => gpuGroupsOf(pod)),
  );
  const oldest = new Map<string, Pod>();
  for (const pod of [...candidates].sort(byAge)) {
    const group = reservedGroup(pod);
    if (group !== null && mayReserve(pod) && (hasKai || served.has(group)) && !oldest.has(group))
      oldest.set(group, pod);
  }
  const isReservation = (pod: Pod): boolean => oldest.get(reservedGroup(pod) ?? "") === pod;
  const reservations = candidates.filter(isReservation);
  return {
    reservations,
    unserved: reservations.filter((pod) => !served.has(reservedGroup(pod) ?? "")),
    others: candidates.filter((pod) => !isReservation(pod)),
  };
}

/** Sorts the oldest pod first; the API server writes the time, so that no author can choose it. */
const byAge = (a: Pod, b: Pod): number =>
  (a.createdAt ?? Number.POSITIVE_INFINITY) - (b.createdAt ?? Number.POSITIVE_INFINITY) || (a.uid < b.uid ? -1 : 1);

/**
 * KAI creates its reservation pods directly on their node: a pod that a scheduler with queues has placed is ordinary work, and
 * in a queue.
 */
const mayReserve = (pod: Pod): boolean => isForOneGpu(pod) && !isPlacedBy("kai", pod) && !isPlacedBy("volcano", pod);

const isForOneGpu = ({ gpu }: Pod): boolean =>
  gpu.claims.length === 0 && Object.values(gpu.resources).reduce((sum, units) => sum + units, 0) === 1;

/**
 * Reads the reservation pods of a node. The telemetry row that names a pod says which GPU it has; its annotation (KAI:
 * `run.ai/reserve_for_gpu_index`) only where the rows of that GPU name no other pods, and no older reservation pod has it.
 */
function readReservations(pods: readonly Pod[], devices: readonly DeviceDraft[]): readonly Reservation[] {
  const found = new Map(pods.map((pod) => [pod, readReservation(pod, devices)] as const));
  const taken = new Set<string>();
  for (const pod of [...pods].sort(byAge)) {
    const reservation = found.get(pod);
    if (reservation === undefined || reservation.uuid === null) continue;
    if (taken.has(reservation.uuid)) found.set(pod, { ...reservation, uuid: null });
    taken.add(reservation.uuid);
  }
  return [...found.values()];
}

function readReservation(pod: Pod, devices: readonly DeviceDraft[]): Reservation {
  const group = reservedGroup(pod);
  const annotated = pod.annotations[podAnnotations.kaiReservedGpu];
  const shown = devices.find((d) =>
    d.reading?.claimants.some((c) => c.namespace === pod.namespace && c.pod === pod.name),
  );
  if (shown !== undefined) return { pod, group, uuid: shown.uuid };
  const physicalGpu = devices.find(({ uuid }) => uuid !== null && uuid === annotated);
  const isOthers = (physicalGpu?.reading?.claimants.length ?? 0) > 0;
  return { pod, group, uuid: annotated?.startsWith("GPU-") && !isOthers ? annotated : null };
}

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
  give(physicalGpu, { pod: pod.index, share, source: "reservation", estimated: known === null });
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
