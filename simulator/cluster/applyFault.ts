import type { WatchHub } from "../api/watch.ts";
import type { Fault } from "../faults.ts";
import { type PhysicalGpu, type World, wallClock } from "./world.ts";
import { healthChanged, reportXid } from "./xid.ts";

/** Changes the world when a fault is switched on or off. Other faults only act while requests come. */
export function applyFault(world: World, hub: WatchHub, fault: Fault, on: boolean): void {
  if ("physicalGpu" in fault) {
    const physicalGpu = world.nodesByName.get(fault.node)?.physicalGpus[fault.physicalGpu];
    if (physicalGpu !== undefined) applyToGpu(world, physicalGpu, fault, on);
    return;
  }
  switch (fault.kind) {
    case "node-lost": {
      const node = world.nodesByName.get(fault.node);
      if (node === undefined) return;
      node.lost = on;
      node.readyChangedAt = wallClock(world);
      world.dirtyNodes.add(node);
      return;
    }
    case "clock-jump":
      world.clockOffset += on ? fault.seconds : -fault.seconds;
      return;
    case "api-watch-cut":
      if (on) hub.cut();
      return;
    case "api-gone":
      if (on) hub.forgetOnce();
      return;
    default:
      return;
  }
}

type GpuFault = Extract<Fault, { readonly physicalGpu: number }>;

function applyToGpu(world: World, physicalGpu: PhysicalGpu, fault: GpuFault, on: boolean): void {
  switch (fault.kind) {
    case "gpu-lost":
      physicalGpu.healthy = !on;
      physicalGpu.lostTime = on ? world.time : null;
      physicalGpu.sample = null;
      healthChanged(world, physicalGpu);
      return;
    case "gpu-xid":
      reportXid(world, physicalGpu, fault, on);
      return;
    case "gpu-slowed":
      physicalGpu.slowed = on ? { reasons: fault.reasons, watts: fault.watts } : null;
      return;
    case "gpu-capped":
      physicalGpu.cappedWatts = on ? fault.watts : null;
      return;
    case "stray-process":
      physicalGpu.stray = on ? fault.activity : 0;
      return;
  }
}
