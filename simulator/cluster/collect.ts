import { type DeviceProfile, hungProfile, usualProfile } from "../deviceProfiles.ts";
import { noise } from "../random.ts";
import { allocationActivity, gpuActivity, isUsed, unitActivity } from "./activity.ts";
import { spins } from "./lostWork.ts";
import { type Allocation, type PhysicalGpu, type SimNode, type World, wallClock } from "./world.ts";

/** Lets the exporters look at their GPUs, for the last of `looks` times. Nodes in `frozen` keep what they saw before. */
export function collect(world: World, frozen: (node: SimNode) => boolean, looks: number): void {
  for (const node of world.nodes) {
    if (node.lost || frozen(node)) continue;
    for (const physicalGpu of node.physicalGpus) collectGpu(world, physicalGpu, looks);
  }
  world.observedAt = wallClock(world);
}

function collectGpu(world: World, physicalGpu: PhysicalGpu, looks: number): void {
  if (!physicalGpu.healthy) {
    physicalGpu.sample = null;
    return;
  }
  const activity = gpuActivity(world, physicalGpu);
  const { idleWatts, maxWatts } = physicalGpu.model;
  const profile = profileOf(world, physicalGpu);
  const wanted = idleWatts + (maxWatts - idleWatts) * activity * profile.power;
  const { slowed, cappedWatts } = physicalGpu;
  const limit = cappedWatts ?? maxWatts;
  const powerWatts = Math.min(wanted, limit, slowed?.watts ?? maxWatts);
  const clockEventReasons = (slowed?.reasons ?? 0) | (wanted > limit ? softwarePowerCap : 0);
  let memoryUsedMiB = 0;
  for (const allocation of physicalGpu.allocations) {
    allocation.observed = allocationActivity(world, allocation);
    memoryUsedMiB += memoryOfAllocation(allocation);
  }
  for (const unit of physicalGpu.units) {
    if (unit.profile !== null) unit.observed = unitActivity(world, physicalGpu, unit);
  }
  physicalGpu.sample = { activity, memoryUsedMiB, powerWatts, clockEventReasons, profile };
  physicalGpu.energyMillijoules += Math.round(powerWatts * world.scenario.collectionInterval * 1000) * looks;
}

/** The clock event reason of a GPU that would draw more than its power limit. */
const softwarePowerCap = 0x4;

/** The profile of the work that is alone on a GPU; several pods together count as usual work. */
function profileOf(world: World, { allocations }: PhysicalGpu): DeviceProfile {
  const [first] = allocations;
  if (first === undefined || allocations.size > 1) return usualProfile;
  const { profile = usualProfile, spinPower = hungProfile.power } = first.pod.workload.spec;
  return spins(world, first.pod) ? { ...hungProfile, power: spinPower } : profile;
}

/** The GPU memory of one pod on one GPU, MiB: a part of its share that stays the same while it runs. */
export function memoryOfAllocation(allocation: Allocation): number {
  const { pod, physicalGpu, share } = allocation;
  if (pod.phase !== "Running" || !isUsed(allocation)) return 0;
  const { gpuMemoryMiB } = pod.workload.spec;
  if (gpuMemoryMiB !== undefined) return Math.min(gpuMemoryMiB, Math.floor(share * physicalGpu.model.memoryMiB * 0.95));
  return Math.floor((0.2 + 0.7 * noise(pod.key, 1)) * share * physicalGpu.model.memoryMiB * 0.95);
}
