import type { Fault } from "../faults.ts";
import { type PhysicalGpu, type World, wallClock } from "./world.ts";

/** Errors that NVIDIA's device plugin and DRA driver leave to the application: the GPU stays in service (`internal/rm/health.go`). */
const ignoredCodes: ReadonlySet<number> = new Set([13, 31, 43, 45, 68, 109]);

/** Errors after which the work on the GPU goes on: a row waits to be remapped, or corrected errors come often. */
const harmlessCodes: ReadonlySet<number> = new Set([63, 92]);

/** Whether the scheduler may still give the GPU out. */
export function isInService({ healthy, xid }: PhysicalGpu): boolean {
  return healthy && (xid === null || ignoredCodes.has(xid.code));
}

/** Whether work on the GPU still computes. */
export function canCompute({ healthy, xid }: PhysicalGpu): boolean {
  return healthy && (xid === null || ignoredCodes.has(xid.code) || harmlessCodes.has(xid.code));
}

/** A GPU reports an XID error, or was reset since. Its page shows the last code on, until its exporter restarts. */
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

/** The node's objects and the pods that hold the GPU say another thing now. */
export function healthChanged(world: World, { node, allocations }: PhysicalGpu): void {
  world.dirtyNodes.add(node);
  for (const { pod } of allocations) world.dirtyPods.add(pod);
}
