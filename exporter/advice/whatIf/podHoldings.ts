import { freeOf, isSpread } from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import { instanceKey, type PodDemand, podDemand, unitKey } from "../../analysis/freeCapacity/podDemand.ts";
import type { Device, Holding, PodView } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { type ClusterCopy, tidy } from "./clusterCopy.ts";
import { accountAllocated, accountAllocatedOn } from "./queueAccounts.ts";

/** A part of a device. */
export interface DeviceShare {
  readonly device: number;
  readonly gpus: number;
  /** Whether it is not known on which of several devices the part is. */
  readonly estimated: boolean;
}

/** What was known about a pod's use of what it held. */
export interface PodActivity {
  readonly activity: number | null;
  readonly idleSince: number | null;
}

/**
 * What a pod takes from its node; `null` if that is unknown. If a pod holds parts of GPUs without asking for them, parts of the
 * same kind are meant.
 */
export function demandOf(copy: ClusterCopy, pod: number): PodDemand | null {
  const view = copy.pods[pod];
  if (view === undefined || view.needs === null || view.gpus === null || view.gpus <= gpuTolerance) return null;
  const demand = podDemand(view.gpus, view.needs);
  if (demand.slots.length > 0) return demand;
  const allocated = copy.devicesOf(pod).flatMap((index) => copy.devices[index] ?? []);
  const parts = allocated.filter((device) => !isPhysicalGpu(device));
  if (parts.length === 0 || parts.length < allocated.length) return demand;
  const counts = new Map<string, number>();
  for (const device of parts) {
    const share = shareOf(device, pod);
    const unit = device.weight / device.slots;
    const key = device.profile === null ? unitKey(unit) : instanceKey(device.profile);
    counts.set(key, (counts.get(key) ?? 0) + Math.max(1, Math.round(share / unit)));
  }
  return { ...demand, physicalGpus: 0, share: 1, slots: [...counts] };
}

/** Whether a device is a whole GPU that pods do not share. */
export const isPhysicalGpu = ({ gpuInstance, slots }: Device): boolean => gpuInstance === null && slots === 1;

function shareOf(device: Device | undefined, pod: number): number {
  let sum = 0;
  for (const holder of device?.holders ?? []) if (holder.pod === pod) sum += holder.share;
  return sum;
}

/** Takes a pod off its node, with its CPU and memory. `reserves`: whether its quota goes with it. */
export function leave(copy: ClusterCopy, pod: number, reserves: boolean): void {
  const own = copy.devicesOf(pod);
  accountAllocatedOn(
    copy,
    pod,
    own.map((device) => [device, -shareOf(copy.devices[device], pod)] as const),
    reserves,
  );
  for (const index of own) {
    const holders = copy.devices[index]?.holders;
    if (holders !== undefined)
      copy.setHolders(
        index,
        holders.filter((holder) => holder.pod !== pod),
      );
  }
  const view = copy.pods[pod];
  if (view === undefined || view.node === null) return;
  countRequests(copy, view, view.node, -1);
  copy.setPod(pod, { ...view, node: null });
}

/** What is known about a pod's use: the mean activity of everything that it holds, and since when all of it has been idle. */
export function activityOf(copy: ClusterCopy, pod: number): PodActivity {
  const allocated = copy.devicesOf(pod).flatMap((index) => copy.devices[index]?.holders ?? []);
  const own = allocated.filter((holder) => holder.pod === pod);
  let [active, total]: [number, number] = [0, 0];
  for (const { share, activity } of own) {
    if (activity === null) return { activity: null, idleSince: null };
    active += share * activity;
    total += share;
  }
  if (total <= 0) return { activity: null, idleSince: null };
  const since = own.map(({ idleSince }) => idleSince ?? Number.POSITIVE_INFINITY);
  const idleSince = Math.max(...since);
  return { activity: Math.min(1, active / total), idleSince: Number.isFinite(idleSince) ? idleSince : null };
}

function countRequests(copy: ClusterCopy, { needs }: PodView, node: string, by: 1 | -1): void {
  if (needs === null) return;
  const { cpuMilli, memoryBytes } = podDemand(0, needs);
  copy.addRequests(node, by, cpuMilli, memoryBytes);
}

/**
 * The parts of a node's devices in some pools that a pod with this demand takes. As in `takePod`, these are the GPUs and parts
 * of GPUs with the least left, by index where that is equal. `null` if the pod does not fit.
 */
export function chooseShares(
  copy: ClusterCopy,
  node: number,
  demand: PodDemand,
  isIn: (pool: string, node: string) => boolean,
): readonly DeviceShare[] | null {
  const known: FreeDevice[] = [];
  const spread: FreeDevice[] = [];
  for (const index of copy.nodes[node]?.devices ?? []) {
    const device = copy.devices[index];
    if (device === undefined || !isIn(device.pool, device.node) || device.unhealthy || device.orphanReservation)
      continue;
    const free = freeOf(device);
    if (free <= gpuTolerance) continue;
    (device.holders.length > 0 && isSpread(device, copy.pods) ? spread : known).push({ index, device, free });
  }
  known.sort((a, b) => a.free - b.free || a.index - b.index);
  const shares: DeviceShare[] = [];
  for (const [key, count] of demand.slots) {
    const missing = takeSlots(known, key, count, shares);
    const isOfKind = (device: Device): boolean => isSlot(device, key);
    const unit = spread.find(({ device }) => isOfKind(device))?.device;
    const gpus = unit === undefined ? missing : (missing * unit.weight) / unit.slots;
    if (!takeSpread(spread, gpus, isOfKind, shares)) return null;
  }
  if (demand.physicalGpus === 0) return shares;
  const physicalGpus = known.filter(({ device, free }) => isPhysicalGpu(device) && free > demand.share - gpuTolerance);
  for (const { index, free } of physicalGpus.slice(0, demand.physicalGpus))
    shares.push({ device: index, gpus: Math.min(free, demand.share), estimated: false });
  const missing = demand.physicalGpus - Math.min(physicalGpus.length, demand.physicalGpus);
  return takeSpread(spread, missing * demand.share, isPhysicalGpu, shares) ? shares : null;
}

interface FreeDevice {
  readonly index: number;
  readonly device: Device;
  free: number;
}

/** Whether a device is a replica or a MIG instance for which this key asks. */
const isSlot = (device: Device, key: string): boolean =>
  !isPhysicalGpu(device) &&
  (unitKey(device.weight / device.slots) === key || (device.profile !== null && instanceKey(device.profile) === key));

/** Takes as many parts as there are, and returns how many are missing. */
function takeSlots(free: readonly FreeDevice[], key: string, count: number, shares: DeviceShare[]): number {
  let missing = count;
  for (const one of free) {
    const { device, index } = one;
    const unit = device.weight / device.slots;
    if (missing === 0) break;
    if (!isSlot(device, key)) continue;
    const units = Math.min(missing, Math.floor(one.free / unit + gpuTolerance));
    if (units === 0) continue;
    shares.push({ device: index, gpus: units * unit, estimated: false });
    one.free -= units * unit;
    missing -= units;
  }
  return missing;
}

/**
 * Takes GPUs from devices whose free parts are not known for each, because pods hold an unknown one of them. What is taken is
 * on an unknown one as well. Returns whether that was enough.
 */
function takeSpread(
  spread: readonly FreeDevice[],
  gpus: number,
  isOfKind: (device: Device) => boolean,
  shares: DeviceShare[],
): boolean {
  let missing = gpus;
  for (const one of spread) {
    if (missing <= gpuTolerance) break;
    if (!isOfKind(one.device)) continue;
    const taken = Math.min(one.free, missing);
    if (taken <= gpuTolerance) continue;
    shares.push({ device: one.index, gpus: taken, estimated: true });
    one.free -= taken;
    missing = tidy(missing - taken);
  }
  return missing <= gpuTolerance;
}

/** Puts a pod onto parts of a node's devices. `reserves`: whether its quota comes with it. */
export function bind(
  copy: ClusterCopy,
  pod: number,
  node: number,
  shares: readonly DeviceShare[],
  { activity, idleSince }: PodActivity,
  reserves: boolean,
): void {
  const view = copy.pods[pod];
  const name = copy.nodes[node]?.name;
  if (view === undefined || name === undefined) return;
  for (const { device, gpus, estimated } of shares) {
    const before = copy.devices[device]?.holders ?? [];
    const holder: Holding = { pod, share: gpus, source: "request", estimated, activity, idleSince };
    copy.setHolders(device, [...before, holder]);
    accountAllocated(copy, pod, device, gpus, reserves);
  }
  countRequests(copy, view, name, 1);
  copy.setPod(pod, { ...view, status: "allocated", node: name });
}
