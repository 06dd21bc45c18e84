import type { Device, Holding, PodView, Snapshot, WorkloadView } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { longTurnsOf } from "../turns.ts";
import { eachHolding } from "./eachHolding.ts";
import { type UsageWatch, usageKey, type WorkloadUsage } from "./usageWatch.ts";
import { knownBefore, nextTurns, type WorkTurns } from "./workTurns.ts";

/** What one moment shows about one workload. */
interface Observation {
  readonly known: WorkloadUsage | undefined;
  gpus: number;
  activeGpus: number;
  activity: number;
  memoryRatio: number | null;
  holdsWholeGpus: boolean;
  /** UUIDs of GPUs that are active now and were not known to be active before. */
  newlyActive: string[] | null;
  /** Whole GPUs of pods that hold several. */
  severalGpus: number;
  /** Whether something about the workload is not known, or does not run yet. */
  isBroken: boolean;
}

/**
 * A user is small if it has never used more than this part of a GPU, 0..1: otherwise the smallest instances that could serve it
 * (2 of 7 slices, a quarter of A30) would slow it down.
 */
export const smallActivity = 0.25;

const noGpus: ReadonlySet<string> = new Set();

/** The watch of all workloads after one more moment. */
export interface ObservedWorkloads {
  /** In the order of the workloads; `undefined` where nothing is known for certain. */
  readonly byPlace: readonly (WorkloadUsage | undefined)[];
  readonly turns: WorkTurns;
}

/**
 * Watches every workload for one more moment. Work of which advice could follow is looked at in each moment; settled work, and
 * work that cannot be watched, in turn (`longTurnsOf`): the former to see whether its watch breaks, the latter to see whether
 * one can begin. Other pods of such work are seen in its turn, too.
 */
export function observeWorkloads(before: UsageWatch, snapshot: Snapshot): ObservedWorkloads {
  const { workloads, pods } = snapshot;
  const turns = nextTurns(before.turns, snapshot);
  const byPlace = knownBefore(before.byPlace ?? [], turns);
  const observations: (Observation | undefined)[] = new Array(workloads.length).fill(undefined);
  for (const place of turns.looked) {
    const [usage, workload] = [byPlace[place], workloads[place]];
    const isKnown = usage !== undefined && workload !== undefined && hasPods(usage.pods, workload, pods);
    observations[place] = firstObservation(isKnown ? usage : undefined);
  }
  eachHolding(snapshot, turns.looked, (_, device, holding, pod) => {
    const observation = observations[pod.workload];
    if (observation !== undefined) addHolding(observation, device, holding, pod);
  });
  const moments = longTurnsOf(snapshot.nodes.length);
  for (const place of turns.looked) {
    const [observation, workload] = [observations[place], workloads[place]];
    if (observation === undefined || workload === undefined) continue;
    const usage = usageOf(observation, workload, snapshot);
    byPlace[place] = usage;
    turns.again(place, usage === undefined || isSettled(usage) ? moments : 1);
  }
  return { byPlace, turns: turns.kept };
}

/**
 * Whether no advice can follow from what a workload with these pods does from now on: it is no small user, and no GPU of a pod
 * with several is unused.
 */
export const isSettled = ({ holdsWholeGpus, peakActivity, activeGpus, severalGpus }: WorkloadUsage): boolean =>
  !holdsWholeGpus || (peakActivity > smallActivity && activeGpus.size >= severalGpus);

const firstObservation = (known: WorkloadUsage | undefined): Observation => ({
  known,
  gpus: 0,
  activeGpus: 0,
  activity: 0,
  memoryRatio: 0,
  holdsWholeGpus: true,
  newlyActive: null,
  severalGpus: 0,
  isBroken: false,
});

function hasPods(uids: readonly string[], workload: WorkloadView, pods: readonly PodView[]): boolean {
  let i = 0;
  let isInOrder = true;
  for (const index of workload.pods) {
    const pod = pods[index];
    if (pod?.status !== "allocated") continue;
    if (pod.uid !== uids[i]) isInOrder = false;
    i += 1;
  }
  if (i !== uids.length || isInOrder) return i === uids.length;
  const known = new Set(uids);
  return workload.pods.every((index) => {
    const pod = pods[index];
    return pod?.status !== "allocated" || (pod.uid !== null && known.has(pod.uid));
  });
}

function addHolding(observation: Observation, device: Device, holding: Holding, pod: PodView): void {
  const { share, activity, estimated } = holding;
  observation.gpus += share;
  const isWaiting = pod.starting || (pod.gang?.partialSince ?? null) !== null;
  if (activity === null || estimated || pod.uid === null || isWaiting || device.unhealthy) {
    observation.isBroken = true;
    return;
  }
  observation.activeGpus += share * activity;
  if (activity > observation.activity) observation.activity = activity;
  const memory = memoryRatioOf(device);
  if (memory === null || observation.memoryRatio === null) observation.memoryRatio = null;
  else if (memory > observation.memoryRatio) observation.memoryRatio = memory;
  const isWholeGpu = device.gpuInstance === null && device.slots === 1 && share > 1 - gpuTolerance;
  if (!isWholeGpu || device.uuid === null) {
    observation.holdsWholeGpus = false;
    return;
  }
  if ((pod.gpus ?? 0) <= 1) return;
  observation.severalGpus += 1;
  if (device.idleNow !== false) return;
  if (observation.known?.activeGpus.has(device.uuid)) return;
  observation.newlyActive ??= [];
  observation.newlyActive.push(device.uuid);
}

function memoryRatioOf({ reading, memoryTotalBytes }: Device): number | null {
  const used = reading?.memoryUsedBytes ?? null;
  const total = memoryTotalBytes ?? reading?.memoryTotalBytes ?? null;
  return used === null || total === null || total <= 0 ? null : used / total;
}

function usageOf(observation: Observation, workload: WorkloadView, { pods, at }: Snapshot): WorkloadUsage | undefined {
  if (observation.isBroken || observation.gpus <= 0) return undefined;
  const { gpus, activeGpus, activity, memoryRatio, holdsWholeGpus, newlyActive, severalGpus } = observation;
  const { known } = observation;
  // If the same pods hold another number of GPUs, what was seen before was about other devices.
  if (known !== undefined && Math.abs(known.gpus - gpus) > gpuTolerance) return undefined;
  if (known === undefined) {
    return {
      since: at,
      gpus,
      peakActiveGpus: activeGpus,
      peakActivity: activity,
      peakMemoryRatio: memoryRatio,
      key: usageKey(workload),
      pods: allocatedUids(workload, pods),
      holdsWholeGpus,
      severalGpus,
      activeGpus: withGpus(noGpus, newlyActive),
    };
  }
  const peakMemoryRatio =
    memoryRatio === null || known.peakMemoryRatio === null ? null : Math.max(known.peakMemoryRatio, memoryRatio);
  const isNoMore =
    activeGpus <= known.peakActiveGpus &&
    activity <= known.peakActivity &&
    peakMemoryRatio === known.peakMemoryRatio &&
    holdsWholeGpus === known.holdsWholeGpus &&
    severalGpus === known.severalGpus &&
    newlyActive === null;
  if (isNoMore) return known;
  return {
    ...known,
    peakActiveGpus: Math.max(known.peakActiveGpus, activeGpus),
    peakActivity: Math.max(known.peakActivity, activity),
    peakMemoryRatio,
    holdsWholeGpus: known.holdsWholeGpus && holdsWholeGpus,
    severalGpus,
    activeGpus: withGpus(known.activeGpus, newlyActive),
  };
}

function allocatedUids(workload: WorkloadView, pods: readonly PodView[]): readonly string[] {
  const uids: string[] = [];
  for (const index of workload.pods) {
    const pod = pods[index];
    if (pod?.status === "allocated" && pod.uid !== null) uids.push(pod.uid);
  }
  return uids;
}

function withGpus(known: ReadonlySet<string>, more: readonly string[] | null): ReadonlySet<string> {
  return more === null ? known : new Set([...known, ...more]);
}
