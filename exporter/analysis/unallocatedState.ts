import type { Config } from "../config/schema.ts";
import type { NodeView, Snapshot } from "../join/snapshot.ts";
import type { GpuState } from "../model/gpuStates.ts";
import type { TextMap } from "../model/node.ts";
import { stateLimits } from "./stateLimits.ts";

/** The state of the GPUs of a node that no pod holds, before the devices themselves are examined. */
export function stateOfUnallocated(snapshot: Snapshot, node: NodeView, warmPools: WarmPools): GpuState {
  if (node.ready === false) return "unavailable";
  if (node.schedulable === false) return "cordoned";
  return isIdleNode(snapshot, node) && !isWarmPool(node.labels, warmPools) ? "idle_node" : "free";
}

/** Whether a node can be idle at all: allocatable GPUs, ready, schedulable, and older than 15 minutes. */
export function canBeIdle({ at }: Pick<Snapshot, "at">, node: NodeView): boolean {
  if (node.ready !== true || node.schedulable !== true || (node.allocatableGpus ?? 0) <= 0) return false;
  return node.createdAt !== null && at - node.createdAt > stateLimits.youngNodeSeconds;
}

/**
 * An idle node, kind `unallocated`: it can be idle, nothing holds a GPU and nothing is active without a holder. Whether it is
 * kept ready on purpose does not matter here. Never `true` if objects were not read, because holders are unknown then.
 */
export function isIdleNode(snapshot: Snapshot, node: NodeView): boolean {
  if (!snapshot.coverage.objects || !canBeIdle(snapshot, node)) return false;
  return node.devices.every((index) => {
    const device = snapshot.devices[index];
    return (
      device === undefined ||
      (device.holders.length === 0 && device.activeUnallocatedAt === null && !device.orphanReservation)
    );
  });
}

/** Which nodes are kept ready on purpose: setting `idle.warmPools`. */
export type WarmPools = Config["idle"]["warmPools"];

/** Whether a node with these labels is kept ready on purpose: it has one of the labels, with its value where one is set. */
export function isWarmPool(labels: TextMap, warmPools: WarmPools): boolean {
  return warmPools.some(({ label, value }) => {
    const found = Object.hasOwn(labels, label) ? labels[label] : undefined;
    return found !== undefined && (value === undefined || found === value);
  });
}
