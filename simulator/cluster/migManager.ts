import type { NodeMode } from "../scenario.ts";
import { isEmpty } from "./autoscaler.ts";
import { unitsOf } from "./createWorld.ts";
import type { SimNode, World } from "./world.ts";

/** Label by which people choose how the GPUs of a node are divided into MIG instances. */
export const migConfigLabel = "nvidia.com/mig.config";

/** Seconds that the MIG manager of the GPU operator needs on an empty node. */
const partitionSeconds = 60;

/**
 * Records the layout that the node's label asks for. If it is the layout that the label asked for before, its waiting time goes
 * on.
 */
export function wishMig(world: World, node: SimNode, config: string | undefined): void {
  if (config === undefined || modeOf(config) === null) node.migWish = null;
  else if (node.migWish?.config !== config) node.migWish = { config, since: world.time };
}

/** Divides the GPUs of empty nodes as their labels ask. Nodes that share their GPUs in other ways are left alone. */
export function partitionNodes(world: World): void {
  for (const node of world.nodes) {
    const { migWish } = node;
    if (migWish === null || world.time - migWish.since < partitionSeconds || !isEmpty(node)) continue;
    const mode = modeOf(migWish.config);
    node.migWish = null;
    if (mode === null || !["whole", "mig-mixed", "mig-single"].includes(node.spec.mode.kind)) continue;
    node.spec = { ...node.spec, mode };
    for (const physicalGpu of node.physicalGpus)
      physicalGpu.units = unitsOf(node.spec, physicalGpu.model, physicalGpu.index);
    world.dirtyNodes.add(node);
  }
}

/**
 * The mode for `all-disabled`, or for `all-PROFILE` of the default configuration (gpu-operator, default-mig-parted-config);
 * `null` for any other value.
 */
function modeOf(config: string): NodeMode | null {
  if (config === "all-disabled") return { kind: "whole" };
  const profile = /^all-(\d)g\.\d+gb$/.exec(config);
  const slices = Number(profile?.[1] ?? 0);
  if (slices === 0 || slices > 7) return null;
  const layout = Array.from({ length: Math.floor(7 / slices) }, () => config.slice("all-".length));
  return { kind: "mig-mixed", layouts: [layout] };
}
