import { wantedPods } from "./owners.ts";
import { freeShare, isSchedulable, serves } from "./placement.ts";
import type { SimNode, Workload, World } from "./world.ts";

/** Returns whether a node is in a part of the cluster. */
export type IsIn = (node: SimNode) => boolean;

const anywhere: IsIn = () => true;

/** The nodes that have a label, by its value. */
function domainsOf({ nodes }: World, label: string): ReadonlyMap<string, readonly SimNode[]> {
  return Map.groupBy(
    nodes.filter(({ spec }) => spec.labels[label] !== undefined),
    ({ spec }) => spec.labels[label] ?? "",
  );
}

/** How many pods of a workload a node takes now, each on whole free GPUs. */
function podsOn(node: SimNode, workload: Workload): number {
  const { request, cpuMilli, memoryMiB } = workload.spec;
  if (request.kind !== "physicalGpus" || !isSchedulable(node) || !serves(node, workload)) return 0;
  const free = node.physicalGpus.filter((physicalGpu) => freeShare(physicalGpu) === 1).length;
  const rooms = [free / request.count, node.freeCpuMilli / cpuMilli, node.freeMemoryMiB / memoryMiB];
  return Math.floor(Math.min(...rooms));
}

/** How many pods of a workload each domain takes now, by name. */
const roomIn = (world: World, workload: Workload, label: string): readonly (readonly [name: string, pods: number])[] =>
  [...domainsOf(world, label)]
    .map(([name, nodes]) => [name, nodes.reduce((sum, node) => sum + podsOn(node, workload), 0)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));

/**
 * Where all pods of a workload may be placed together, the best first: within the domain with the least room that is enough
 * (Kueue's BestFit). What only prefers a level may also be anywhere.
 */
export function placesFor(world: World, workload: Workload, pods: number): readonly IsIn[] {
  const { topology } = workload.spec;
  if (topology === undefined) return [anywhere];
  const { label, mode } = topology;
  const enough = roomIn(world, workload, label).filter(([, room]) => room >= pods);
  const [best] = enough.sort(([, a], [, b]) => a - b);
  const inside: readonly IsIn[] = best === undefined ? [] : [({ spec }) => spec.labels[label] === best[0]];
  return mode === "required" ? inside : [...inside, anywhere];
}

/** What of the topology keeps a workload from being admitted. */
export interface TopologyMisfit {
  /** The most of its pods that one domain takes now. */
  readonly pods: number;
}

/**
 * Why Kueue does not admit a workload although it has quota: no domain of the level that it requires takes all of its pods, or,
 * where it only prefers one, not all nodes together do. `null`: it may be admitted, or asks for no topology.
 */
export function topologyMisfit(world: World, workload: Workload): TopologyMisfit | null {
  const { topology } = workload.spec;
  if (topology === undefined) return null;
  const rooms = roomIn(world, workload, topology.label).map(([, room]) => room);
  const pods = topology.mode === "required" ? Math.max(0, ...rooms) : rooms.reduce((sum, room) => sum + room, 0);
  return pods >= workload.spec.pods ? null : { pods };
}

/** Whether work that Kueue places by topology was admitted and is not yet on its nodes: until then nobody else gets nodes. */
export function isPlacing({ workloads }: World): boolean {
  return [...workloads].some(
    (each) =>
      each.spec.topology !== undefined &&
      each.admittedAt !== null &&
      each.endedTime === null &&
      each.pods.filter(({ node }) => node !== null).length < wantedPods(each),
  );
}
