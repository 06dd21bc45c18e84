import type { Device, Holding, PodView, Snapshot, WorkloadView } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { turnsOf } from "../turns.ts";
import { eachHolding } from "./eachHolding.ts";
import { type UsageWatch, usageKey, type WorkloadUsage } from "./usageWatch.ts";

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

/**
 * The watch of every workload after one more moment, in the order of the workloads; `undefined` where nothing is known for
 * certain. What settled workloads do is looked at in turn, those of the others in each moment.
 */
export function observeWorkloads(before: UsageWatch, snapshot: Snapshot): readonly (WorkloadUsage | undefined)[] {
  const { workloads, pods, at } = snapshot;
  const turns = turnsOf(snapshot.nodes.length);
  const turn = (before.turn ?? 0) % turns;
  const known = workloads.map((workload, place) => knownAt(before, place, workload, pods));
  const isLooked = new Uint8Array(workloads.length);
  for (const [place, usage] of known.entries())
    if (usage === undefined || place % turns === turn || !isSettled(usage)) isLooked[place] = 1;
  const observations: (Observation | undefined)[] = new Array(workloads.length).fill(undefined);
  eachHolding(snapshot, isLooked, (_, device, holding, pod) => {
    let observation = observations[pod.workload];
    if (observation === undefined) {
      observation = firstObservation(known[pod.workload]);
      observations[pod.workload] = observation;
    }
    addHolding(observation, device, holding, pod);
  });
  return workloads.map((workload, place) => {
    const usage = known[place];
    if (usage !== undefined && isLooked[place] !== 1)
      return usage.workload === place ? usage : { ...usage, workload: place };
    const observation = observations[place];
    return observation === undefined ? undefined : usageOf(observation, place, workload, pods, at);
  });
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

/** What was watched of the workload with the pods that it has now; `undefined`: nothing. */
function knownAt(
  before: UsageWatch,
  place: number,
  workload: WorkloadView,
  pods: readonly PodView[],
): WorkloadUsage | undefined {
  const guess = before.byPlace?.[place];
  // A uid belongs to a pod of one workload only: if the uids are the same, the key of the workload need not be built.
  if (guess !== undefined && hasPods(guess.pods, workload, pods)) return guess;
  const key = usageKey(workload);
  // It has other pods at the place that it had before: nothing is known of these.
  if (guess?.key === key) return undefined;
  const known = before.workloads.get(key);
  return known !== undefined && hasPods(known.pods, workload, pods) ? known : undefined;
}

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

function usageOf(
  observation: Observation,
  place: number,
  workload: WorkloadView,
  pods: readonly PodView[],
  at: number,
): WorkloadUsage | undefined {
  if (observation.isBroken) return undefined;
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
      workload: place,
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
    newlyActive === null &&
    place === known.workload;
  if (isNoMore) return known;
  return {
    ...known,
    peakActiveGpus: Math.max(known.peakActiveGpus, activeGpus),
    peakActivity: Math.max(known.peakActivity, activity),
    peakMemoryRatio,
    workload: place,
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
