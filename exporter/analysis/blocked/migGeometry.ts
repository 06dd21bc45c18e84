import type { Device, NodeView, Snapshot } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import {
  type DomainFreeCapacities,
  domainOfFreeCapacities,
  nothingFree,
} from "../freeCapacity/domainFreeCapacities.ts";
import { requestsOf } from "../freeCapacity/freeCapacities.ts";
import { createGangFit, type GangFit, type PlacedPods } from "../freeCapacity/gangFit.ts";
import {
  type FreeCapacity,
  type FreeSlots,
  freeCapacityWithoutGpus,
  freeOf,
  isUsable,
  type NodeFreeCapacity,
} from "../freeCapacity/nodeFreeCapacity.ts";
import { instanceKey, podDemand } from "../freeCapacity/podDemand.ts";

/** What MIG GPUs could hold if their free slices were partitioned anew. */
export interface MigGeometry {
  /** Physical GPUs of a pool that are in no instance, counted in slices, on nodes that take pods. */
  unpartitioned(pool: string): number;
  /** Where pods could go if the free slices of every GPU, and the GPUs that are wholly free, became instances for them. */
  fitFor(parts: readonly PlacedPods[]): GangFit;
}

const anyInstance = instanceKey("");

/** Whether pods ask for instances of a MIG profile. */
export function asksForInstances({ gpusPerPod, needs }: PlacedPods): boolean {
  return podDemand(gpusPerPod, needs).slots.some(([key]) => key.startsWith(anyInstance));
}

/** Creates the geometry of a moment; it is worked out when first asked for. */
export function createMigGeometry(snapshot: Snapshot, domains: readonly DomainFreeCapacities[]): MigGeometry {
  const usable = new Map(snapshot.nodes.filter(isUsable).map((node) => [node.name, node] as const));
  const parts = snapshot.unpartitioned.filter(({ node }) => usable.has(node));
  const byPool = new Map<string, number>();
  for (const { pool, weight } of parts) byPool.set(pool, (byPool.get(pool) ?? 0) + weight);
  const partsOf = Map.groupBy(parts, ({ node }) => node);
  const known = new Map<string, GangFit>();

  const repartitioned = (
    freeCapacity: NodeFreeCapacity,
    { isIn, pools }: DomainFreeCapacities,
    shares: Shares,
  ): NodeFreeCapacity => {
    const { node } = freeCapacity;
    if (!usable.has(node.name)) return freeCapacity;
    const rest = (partsOf.get(node.name) ?? []).filter(({ pool }) => isIn(pool, node.name));
    const physicalGpus = freeSlicesByGpu(snapshot, node, rest, pools);
    for (const free of freeCapacity.now?.physicalGpus ?? []) if (free > 1 - gpuTolerance) physicalGpus.push(free);
    if (physicalGpus.length === 0) return freeCapacity;
    const now = freeCapacity.now ?? freeCapacityWithoutGpus(node, requestsOf(snapshot, node.name));
    const gpus = now.gpus + rest.reduce((sum, { weight }) => sum + weight, 0);
    return { ...freeCapacity, now: { ...now, gpus, slots: withInstances(now, physicalGpus, shares) } };
  };

  return {
    unpartitioned: (pool) => byPool.get(pool) ?? 0,
    fitFor(placed) {
      const shares = sharesOf(placed);
      const key = JSON.stringify([...shares]);
      const found = known.get(key);
      if (found !== undefined) return found;
      const fit = createGangFit(
        domains.map((domain) => {
          const free = new Map(domain.freeByPool);
          for (const [pool, weight] of byPool) {
            const before = free.get(pool) ?? nothingFree;
            free.set(pool, { ...before, gpus: before.gpus + weight });
          }
          const freeCapacities = domain.nodes.map((freeCapacity) => repartitioned(freeCapacity, domain, shares));
          return domainOfFreeCapacities(freeCapacities, domain, free);
        }),
      );
      known.set(key, fit);
      return fit;
    },
  };
}

/** Physical GPUs of one instance, by the key of its profile. */
type Shares = ReadonlyMap<string, number>;

/** The shares of the profiles that pods ask for: a pod's physical GPUs in instances are divided by their compute slices. */
function sharesOf(placed: readonly PlacedPods[]): Shares {
  const shares = new Map<string, number>();
  for (const { gpusPerPod, needs } of placed) {
    const { physicalGpus, slots } = podDemand(gpusPerPod, needs);
    const asked = slots.filter(([key]) => key.startsWith(anyInstance));
    const slices = asked.reduce((sum, [key, count]) => sum + count * slicesOf(key), 0);
    for (const [key] of asked) shares.set(key, ((gpusPerPod - physicalGpus) * slicesOf(key)) / slices);
  }
  return shares;
}

/** The compute slices of a profile: `mig:3g40gb` -> 3, `mig:1c3g40gb` -> 1. */
const slicesOf = (key: string): number => Number(/^mig:([1-9])/.exec(key)?.[1] ?? 1);

/** Free slices of each MIG GPU, in physical GPUs. GPUs without an identity count as one each. */
function freeSlicesByGpu(
  { devices }: Snapshot,
  node: NodeView,
  rest: readonly { readonly uuid: string | null; readonly weight: number }[],
  pools: ReadonlySet<string>,
): number[] {
  const physicalGpus = new Map<string | number, number>();
  const broken = new Set<string | null>();
  const add = (physicalGpu: string | number, free: number) =>
    physicalGpus.set(physicalGpu, (physicalGpus.get(physicalGpu) ?? 0) + free);
  for (const index of node.devices) {
    const device = devices[index];
    if (device === undefined || device.profile === null || !pools.has(device.pool)) continue;
    if (isUnfit(device)) broken.add(device.uuid);
    else add(device.uuid ?? index, freeOf(device));
  }
  for (const [index, { uuid, weight }] of rest.entries()) add(uuid ?? -1 - index, weight);
  return [...physicalGpus]
    .filter(([physicalGpu]) => typeof physicalGpu === "number" || !broken.has(physicalGpu))
    .map(([, free]) => free);
}

const isUnfit = ({ unhealthy, orphanReservation }: Device): boolean => unhealthy || orphanReservation;

function withInstances(
  { slots }: FreeCapacity,
  physicalGpus: readonly number[],
  shares: Shares,
): ReadonlyMap<string, FreeSlots> {
  const all = new Map(slots);
  for (const [key, share] of shares) {
    const count = physicalGpus.reduce((sum, free) => sum + Math.floor(free / share + gpuTolerance), 0);
    all.set(key, { count, gpus: count * share });
  }
  return all;
}
