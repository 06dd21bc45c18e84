import type { WatchHub } from "../api/watch.ts";
import type { Fault } from "../faults.ts";
import { type PhysicalGpu, type World, wallClock } from "./world.ts";
import { healthChanged, reportXid } from "./xid.ts";

/** What a fault does to the world at the moment when it is switched on or off; the others act while requests come. */
export function applyFault(world: World, hub: WatchHub, fault: Fault, on: boolean): void {
  switch (fault.kind) {
    case "node-lost": {
      const node = world.nodesByName.get(fault.node);
      if (node === undefined) return;
      node.lost = on;
      node.readyChangedAt = wallClock(world);
      world.dirtyNodes.add(node);
      return;
    }
    case "gpu-lost": {
      const physicalGpu = gpuOf(world, fault.node, fault.physicalGpu);
      if (physicalGpu === undefined) return;
      physicalGpu.healthy = !on;
      physicalGpu.lostTime = on ? world.time : null;
      physicalGpu.sample = null;
      healthChanged(world, physicalGpu);
      return;
    }
    case "gpu-xid": {
      const physicalGpu = gpuOf(world, fault.node, fault.physicalGpu);
      if (physicalGpu !== undefined) reportXid(world, physicalGpu, fault, on);
      return;
    }
    case "stray-process": {
      const physicalGpu = gpuOf(world, fault.node, fault.physicalGpu);
      if (physicalGpu !== undefined) physicalGpu.stray = on ? fault.activity : 0;
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

function gpuOf(world: World, node: string, index: number): PhysicalGpu | undefined {
  return world.nodesByName.get(node)?.physicalGpus[index];
}
