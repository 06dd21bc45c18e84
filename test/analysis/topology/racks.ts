import { findFreeCapacities } from "../../../exporter/analysis/freeCapacity/freeCapacities.ts";
import { findLevels } from "../../../exporter/analysis/topology/levels.ts";
import { measureTopology } from "../../../exporter/analysis/topology/measureTopology.ts";
import type { RequestOf } from "../../../exporter/analysis/topology/poolNodes.ts";
import type { LevelFit, PoolTopology, Topology } from "../../../exporter/analysis/topology/topology.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import { placementMoment } from "../placement/placementBuilder.ts";
import type { NaiveNode } from "./naiveTopology.ts";

export const blockLabel = "example.com/block";
export const rackLabel = "example.com/rack";
export const blocksAndRacks = [
  { name: "block", nodeLabel: blockLabel },
  { name: "rack", nodeLabel: rackLabel },
];

/** Pods that ask for GPUs alone. */
export const onlyGpus: RequestOf = () => ({ cpuMilli: 0, memoryBytes: 0 });

/** A node whose labels name its block and rack. */
export function rackNode(path: NaiveNode["path"], gpus: number, free: number, isUsable = true): NaiveNode {
  return { path, gpus, free, isUsable };
}

/** A moment with these nodes, all of one pool. */
export function momentOf(nodes: readonly NaiveNode[]): Snapshot {
  return placementMoment(
    nodes.map(({ path: [block, rack], gpus, free, isUsable }) => ({
      allocated: Array.from({ length: gpus }, (_, gpu) => (gpu < gpus - free ? 1 : 0)),
      ready: isUsable,
      labels: {
        ...(block === undefined ? {} : { [blockLabel]: block }),
        ...(rack === undefined ? {} : { [rackLabel]: rack }),
      },
    })),
  );
}

/** What is measured of a moment with the levels block and rack. */
export function measured(snapshot: Snapshot, requestOf: RequestOf = onlyGpus): Topology {
  return measureTopology(
    findFreeCapacities(snapshot),
    findLevels(snapshot.nodes, blocksAndRacks, snapshot.queueObjects),
    requestOf,
  );
}

/** The only pool of a topology. */
export function onlyPool({ pools }: Topology): PoolTopology {
  const [pool] = pools;
  if (pool === undefined || pools.length > 1) throw new Error(`${pools.length} pools instead of one`);
  return pool;
}

/** A level by its name. */
export function levelOf(topology: Topology, name: string): LevelFit {
  const found = onlyPool(topology).levels.find(({ level }) => level === name);
  if (found === undefined) throw new Error(`no level ${name}`);
  return found;
}

/** Slots of a level for gangs of 8, 16, 32, 64, 128 and 256 GPUs. */
export const slotsOf = ({ gangs }: LevelFit): readonly number[] => gangs.map(({ slots }) => slots);
