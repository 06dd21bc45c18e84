import type { Fault } from "../faults.ts";
import { type PhysicalGpu, type World, wallClock } from "./world.ts";

/**
 * Errors that NVIDIA's device plugin and DRA driver leave to the application: the GPU stays in service
 * (`internal/rm/health.go`).
 */
const ignoredCodes: ReadonlySet<number> = new Set([13, 31, 43, 45, 68, 109]);

/** Errors after which the work on the GPU goes on: a row waits to be remapped, or corrected errors are frequent. */
const harmlessCodes: ReadonlySet<number> = new Set([63, 92]);

/** Whether the scheduler may still allocate the GPU. */
export function isInService({ healthy, xid }: PhysicalGpu): boolean {
  return healthy && (xid === null || ignoredCodes.has(xid.code));
}

/** Whether work on the GPU still computes. */
export function canCompute({ healthy, xid }: PhysicalGpu): boolean {
  return healthy && (xid === null || ignoredCodes.has(xid.code) || harmlessCodes.has(xid.code));
}

/** Lets a GPU report an XID error, or resets it. Its page still shows the last code until its exporter restarts. */
export function reportXid(
  world: World,
  physicalGpu: PhysicalGpu,
  { code }: Extract<Fault, { kind: "gpu-xid" }>,
  on: boolean,
): void {
  physicalGpu.xid = on ? { code, at: wallClock(world) } : null;
  if (on) physicalGpu.shownXid = code;
  healthChanged(world, physicalGpu);
}

/** Notes that the node's objects, and the pods that hold the GPU, must be published again. */
export function healthChanged(world: World, { node, allocations }: PhysicalGpu): void {
  world.dirtyNodes.add(node);
  for (const { pod } of allocations) world.dirtyPods.add(pod);
}
