import { noise } from "../random.ts";
import type { ActivityPattern } from "../scenario.ts";
import { computes, isSilent, spins } from "./lostWork.ts";
import type { Allocation, PhysicalGpu, Unit, World } from "./world.ts";
import { canCompute } from "./xid.ts";

/** The grain of all patterns: activity is constant within this many seconds. */
const grainSeconds = 10;

/** Patterns in which each pod has a course of its own. */
export type OwnPattern = Exclude<ActivityPattern, { readonly kind: "sessions" }>;

/** How busy a pod with this pattern keeps its share: a ratio with at most four decimals, from its arguments alone. */
export function patternLevel(pattern: OwnPattern, key: number, runningSeconds: number, time: number): number {
  const level = rawLevel(pattern, key, runningSeconds, time);
  return Math.round(Math.min(1, Math.max(0, level)) * 10_000) / 10_000;
}

function rawLevel(pattern: OwnPattern, key: number, runningSeconds: number, time: number): number {
  const jitter = noise(key, Math.floor(time / grainSeconds)) - 0.5;
  switch (pattern.kind) {
    case "constant":
      return pattern.level;
    case "steady": {
      // Loading data at the start and writing a checkpoint every half hour leave the GPU idle.
      const dips = runningSeconds < 60 || runningSeconds % 1800 < 60;
      return dips ? 0.04 : pattern.level + 0.08 * jitter;
    }
    case "bursts":
      return noise(key, Math.floor(time / 120)) < pattern.duty ? pattern.level + 0.1 * jitter : 0;
    case "notebook": {
      const spell = noise(key, Math.floor(time / 600));
      return spell < pattern.duty ? 0.35 + 0.6 * (spell / pattern.duty) + 0.1 * jitter : 0;
    }
    case "day": {
      const hour = (time % 86_400) / 3600;
      const height = 0.5 * (1 - Math.cos((2 * Math.PI * (hour - 4)) / 24));
      return pattern.low + (pattern.high - pattern.low) * height + 0.06 * jitter;
    }
    case "series": {
      const step = Math.floor(time / pattern.stepSeconds) + pattern.offset;
      return pattern.values[step % pattern.values.length] ?? 0;
    }
  }
}

/** The activity of one pod's share of one GPU, now. */
export function allocationActivity(world: World, allocation: Allocation): number {
  const { pod, physicalGpu } = allocation;
  if (!computes(pod) || !canCompute(physicalGpu) || physicalGpu.node.lost) return 0;
  if (!isUsed(allocation)) return 0;
  if (spins(world, pod)) return 1;
  if (isSilent(world, pod)) return 0;
  const { session, spec } = pod.workload;
  if (spec.activity.kind === "sessions") return session?.isWorking === true ? spec.activity.level : 0;
  const key = (pod.key + Math.imul(physicalGpu.index + 1, 0x27d4eb2f)) >>> 0;
  return patternLevel(spec.activity, key, world.time - pod.startedTime, world.time);
}

/** Whether the pod uses the GPU at all: some pods ask for more GPUs than they ever use. */
export function isUsed({ pod, physicalGpu }: Allocation): boolean {
  const { busyGpus } = pod.workload.spec;
  return busyGpus === undefined || pod.allocations.findIndex((each) => each.physicalGpu === physicalGpu) < busyGpus;
}

/** The mean activity of a GPU, now. */
export function gpuActivity(world: World, physicalGpu: PhysicalGpu): number {
  if (!canCompute(physicalGpu) || physicalGpu.node.lost) return 0;
  if (physicalGpu.allocations.size === 0) return physicalGpu.stray;
  let sum = 0;
  for (const allocation of physicalGpu.allocations) sum += allocation.share * allocationActivity(world, allocation);
  return Math.min(1, sum);
}

/** The activity of a MIG instance as a part of the instance, now. */
export function unitActivity(world: World, physicalGpu: PhysicalGpu, unit: Unit): number {
  for (const allocation of physicalGpu.allocations) {
    if (allocation.unit === unit) return allocationActivity(world, allocation);
  }
  return 0;
}
