import { shellQuote } from "../../kernel/shellQuote.ts";
import type { Pod } from "../../model/pod.ts";
import type { Problem } from "../../model/problem.ts";
import { podAnnotations, podLabels } from "../../model/wellKnown.ts";
import { type DeviceDraft, freeCapacityOf } from "../drafts.ts";
import { isPlacedBy } from "../trust/placedBy.ts";
import type { HomelessShare } from "./claims.ts";
import { type Fraction, fractionOf, gpuGroupsOf, partOf, writtenGpus } from "./fractions.ts";
import { give, isReservationPod, type PodOnNode } from "./podOnNode.ts";

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

/** The GPUs that fractions hold, and what could not be placed. */
export interface FractionHoldings {
  /** Fractions of a known size whose GPU is not known, for the estimate. */
  readonly homeless: readonly HomelessShare[];
  /** Indices of the pods for which nothing says how much of a GPU they hold. */
  readonly unsized: ReadonlySet<number>;
  readonly problems: readonly Problem[];
}

/**
 * Holdings of fractional pods through the reservation pods of their groups: reservation -> GPU -> group -> pods. Where no
 * reservation shows the GPU, the one that KAI's binder has written into the pod is taken, estimated, since a tenant may have
 * written it too.
 * Pods that KAI places come first; others in the group have what is left of its GPU. Fractions of unknown size share what is
 * left after all others, estimated. A reserved GPU without a fraction pod is marked, also where only a row names the
 * reservation pod because pods of its namespace were not read. `labelled`: memory of a GPU by the node's label.
 */
export function holdByReservations(
  devices: readonly DeviceDraft[],
  pods: readonly PodOnNode[],
  reservationPods: readonly Pod[],
  isRead: (namespace: string) => boolean,
  labelled: number | null,
): FractionHoldings {
  const reservations = readReservations(reservationPods, devices);
  const homeless: HomelessShare[] = [];
  const unsized: Unsized[] = [];
  const isKai = ({ pod }: PodOnNode): boolean => isPlacedBy("kai", pod);
  for (const pod of [...pods.filter(isKai), ...pods.filter((one) => !isKai(one))]) {
    const fraction = pod.kind === "fraction" ? fractionOf(pod.pod) : null;
    if (fraction === null) continue;
    const reserved = gpusOfGroups(devices, reservations, gpuGroupsOf(pod.pod)).slice(0, fraction.devices);
    const written = writtenBeside(devices, reserved, pod.pod).slice(0, fraction.devices - reserved.length);
    const on = [...reserved, ...written].filter((gpu) => {
      const part = partOf(fraction, memoryOf(gpu, labelled));
      if (part !== null) holdFraction(gpu, pod, part, written.includes(gpu));
      return part === null;
    });
    const missing = fraction.devices - reserved.length - written.length;
    const part = missing > 0 ? partOf(fraction, memoryOf(devices[0], labelled)) : null;
    if (part !== null) homeless.push({ pod, gpus: part * missing });
    if (on.length > 0 || (missing > 0 && part === null)) unsized.push({ pod, fraction, on });
  }
  divideRest(devices, unsized);
  for (const device of devices) {
    const isReserved =
      reservations.some((r) => r.uuid !== null && r.uuid === device.uuid) ||
      device.reading?.claimants.some((c) => isReservationPod(c) && !isRead(c.namespace)) === true;
    device.orphanReservation = device.shares.length === 0 && isReserved;
  }
  return {
    homeless,
    unsized: new Set(unsized.map(({ pod }) => pod.index)),
    problems: unsized.map(({ pod, fraction }) => unknownSize(pod, fraction)),
  };
}

/** A fraction whose part of these GPUs is not known; it has no GPU where that is not known either. */
interface Unsized {
  readonly pod: PodOnNode;
  readonly fraction: Fraction;
  readonly on: readonly DeviceDraft[];
}

/** Fractions of unknown size get equal parts of what is left of their GPUs. */
function divideRest(devices: readonly DeviceDraft[], unsized: readonly Unsized[]): void {
  for (const device of unsized.length === 0 ? [] : devices) {
    const sharers = unsized.filter(({ on }) => on.includes(device));
    const share = freeCapacityOf(device) / sharers.length;
    if (share > 0)
      for (const { pod } of sharers) give(device, { pod: pod.index, share, source: "reservation", estimated: true });
  }
}

/** Memory of the whole GPU: telemetry lacks what the driver reserves, and KAI counts by the label. */
function memoryOf(gpu: DeviceDraft | undefined, labelled: number | null): number | null {
  const shown = gpu?.memoryBytes ?? null;
  if (shown === null || shown <= 0) return labelled;
  return labelled !== null && labelled > shown && labelled < shown * 1.1 ? labelled : shown;
}

function writtenBeside(devices: readonly DeviceDraft[], reserved: readonly DeviceDraft[], pod: Pod) {
  const uuids = writtenGpus(pod);
  return devices.filter(
    (d) => d.uuid !== null && d.gpuInstance === null && uuids.includes(d.uuid) && !reserved.includes(d),
  );
}

function gpusOfGroups(
  devices: readonly DeviceDraft[],
  reservations: readonly Reservation[],
  groups: readonly string[],
): readonly DeviceDraft[] {
  const reserved = new Set(reservations.filter((r) => r.group !== null && groups.includes(r.group)).map((r) => r.uuid));
  return devices.filter((d) => d.uuid !== null && d.gpuInstance === null && reserved.has(d.uuid));
}

function holdFraction(physicalGpu: DeviceDraft, pod: PodOnNode, part: number, estimated: boolean): void {
  const share = isPlacedBy("kai", pod.pod) ? part : Math.min(part, freeCapacityOf(physicalGpu));
  if (share > 0) give(physicalGpu, { pod: pod.index, share, source: "reservation", estimated });
}

function unknownSize({ pod, node }: PodOnNode, { memoryMiB }: Fraction): Problem {
  const name = `${pod.namespace}/${pod.name}`;
  return {
    source: "join",
    code: "fraction-size-unknown",
    severity: "warning",
    subject: name,
    message: `pod ${name} holds ${shownMiB(memoryMiB)} of a GPU on node ${node}, and no GPU of a known memory there can have that much; how much of a GPU it holds is unknown`,
    nextStep: `Check the memory of the node's GPUs: kubectl get node ${shellQuote(node)} -L nvidia.com/gpu.product,nvidia.com/gpu.memory`,
  };
}

const shownMiB = (memoryMiB: number | null): string => `${Math.round(memoryMiB ?? 0)} MiB`;
