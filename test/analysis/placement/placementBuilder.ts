import type { PlacementSettings } from "../../../exporter/analysis/placement/measurePlacement.ts";
import { measurePlacement } from "../../../exporter/analysis/placement/measurePlacement.ts";
import type { PoolPlacement } from "../../../exporter/analysis/placement/poolPlacement.ts";
import type { TargetShape } from "../../../exporter/config/moneySchema.ts";
import type { Device, NodeView, PodView, Snapshot } from "../../../exporter/join/snapshot.ts";
import type { PodNeeds } from "../../../exporter/model/queues/podNeeds.ts";
import { podNeeds } from "../../queues/kueueRows.ts";
import { device, holding, moment, nodeView, podView } from "../momentBuilder.ts";

export const gib = 2 ** 30;

/** A node by its GPUs: what is allocated of each. */
export interface PlacedNode extends Partial<NodeView> {
  readonly allocated: readonly number[];
  /** Of all its GPUs. */
  readonly physicalGpu?: Partial<Device>;
  /** What is left of CPU cores and memory; unknown without it. */
  readonly freeCores?: number;
  readonly freeGib?: number;
}

/** A cluster of these nodes, and of pods that all hold something somewhere. */
export function placementMoment(nodes: readonly PlacedNode[], pods: readonly PodView[] = []): Snapshot {
  const devices: Device[] = [];
  const views = nodes.map(({ allocated, physicalGpu = {}, freeCores, freeGib, ...rest }, n): NodeView => {
    const name = rest.name ?? `node-${n}`;
    const indexes = allocated.map((share, i) => {
      const holders = share > 0 ? [holding({ pod: -1, share })] : [];
      return devices.push(device({ node: name, uuid: `GPU-${n}-${i}`, holders, ...physicalGpu })) - 1;
    });
    const allocatable = { allocatableCpuMilli: usedCpuMilli + (freeCores ?? 0) * 1000 };
    return nodeView({
      name,
      physicalGpus: allocated.length,
      allocatableGpus: allocated.length,
      ...(freeCores === undefined ? {} : allocatable),
      ...(freeGib === undefined ? {} : { allocatableMemoryBytes: (usedGib + freeGib) * gib }),
      ...rest,
      devices: indexes,
    });
  });
  const requests = views.map(
    ({ name }) => [name, { pods: 3, cpuMilli: usedCpuMilli, memoryBytes: usedGib * gib }] as const,
  );
  return moment({ nodes: views, devices, pods, requestsByNode: new Map(requests) });
}

const usedCpuMilli = 1500;
const usedGib = 3;

/** What a pod with whole GPUs asks for. */
export function asks(gpus: number, cores = 0, memoryGib = 0, parts: Partial<PodNeeds> = {}): PodNeeds {
  return podNeeds({ "nvidia.com/gpu": gpus, cpu: cores, memory: memoryGib * gib }, parts);
}

/** Running pods that ask alike, as many as are wanted. */
export function podsLike(count: number, needs: PodNeeds, gpus = needs.requests["nvidia.com/gpu"] ?? 1): PodView[] {
  return Array.from({ length: count }, (_, i) => podView({ uid: `${gpus}-${i}`, gpus, needs }));
}

/** A configured shape. */
export function targetShape(parts: Partial<TargetShape>): TargetShape {
  return { gpus: 1, cpu: 0, memoryBytes: 0, nodeSelector: {}, models: [], popularity: 1, ...parts };
}

/** Of what runs and waits. */
export const byPods: PlacementSettings = { targetWorkload: [], ended: null };

/** The only pool of a moment. */
export function onlyPool(snapshot: Snapshot, settings: PlacementSettings = byPods): PoolPlacement {
  const { pools } = measurePlacement(snapshot, settings);
  const [pool] = pools;
  if (pool === undefined || pools.length > 1) throw new Error(`${pools.length} pools instead of one`);
  return pool;
}
