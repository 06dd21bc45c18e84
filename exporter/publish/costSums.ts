import type { Analysis } from "../analysis/analysis.ts";
import { type Booking, type GpuState, gpuStates } from "../analysis/booking.ts";
import type { NodePrice } from "../analysis/prices/prices.ts";
import type { NodeView } from "../join/snapshot.ts";
import { type ChargeBasis, isCharged } from "../model/charge.ts";
import { zeroStates } from "./zeroStates.ts";

/** The settings by which costs are shown. */
export interface CostSettings {
  /** States of held time that no team pays for. */
  readonly notCharged: readonly string[];
  /** Workloads that have series of their own. */
  readonly topWorkloads: number;
}

/** What is said by default. */
export const defaultCostSettings: CostSettings = { notCharged: ["unavailable"], topWorkloads: 20 };

/** What the GPUs of alike nodes cost per hour, by state. */
export interface NodeGroupCost {
  readonly pool: string;
  readonly nodePool: string;
  readonly capacityType: NodeView["capacityType"];
  readonly currency: string;
  readonly states: Readonly<Record<GpuState, number>>;
  /** Of all states, what nobody holds. */
  readonly unallocated: number;
}

/** What one workload's pods of the same team, queue and namespace hold, per hour. */
export interface HolderCost {
  /** Index into `Snapshot.workloads`. */
  readonly workload: number;
  readonly team: string;
  readonly queue: string | null;
  readonly namespace: string;
  /** `null`: of nodes without a price, so that there are GPUs and no costs. */
  readonly currency: string | null;
  readonly gpus: number;
  readonly cost: number;
  /** What the team pays of it, by charge basis. */
  readonly allocation: number;
  readonly use: number;
}

/** What everything costs at one moment, per hour. Nothing is there where nothing has a price. */
export interface CostSums {
  readonly groups: readonly NodeGroupCost[];
  readonly holders: readonly HolderCost[];
}

/** Costs being added up. */
export interface CostAdder {
  add(booking: Booking): void;
  sums(): CostSums;
}

type Sums<Record> = { -readonly [Key in keyof Record]: Record[Key] };
type GroupSums = Omit<Sums<NodeGroupCost>, "states"> & { readonly states: { [State in GpuState]: number } };
type HolderSums = Sums<HolderCost> & { next: HolderSums | null };

/**
 * Adds up bookings at the prices of the moment. Neighbouring bookings are mostly of one node, and all pods of a workload
 * mostly have the same team, queue, namespace and currency, so that no booking needs a key of text.
 */
export function createCostAdder(
  { snapshot, prices }: Analysis,
  { notCharged }: Pick<CostSettings, "notCharged"> = defaultCostSettings,
): CostAdder {
  if (prices.byNode.size === 0) return { add: () => {}, sums: () => ({ groups: [], holders: [] }) };
  const { nodes, pods } = snapshot;
  const nodeOf = new Map(nodes.map((node) => [node.name, node] as const));
  const groups: GroupSums[] = [];
  const groupOf = new Map<string, GroupSums>();
  const holders: HolderSums[] = [];
  /** By workload, the newest first. */
  const holderOf: (HolderSums | null)[] = snapshot.workloads.map(() => null);
  const byAllocation = chargedParts("allocation", notCharged);
  const byUse = chargedParts("use", notCharged);
  let lastNode: string | null = null;
  let lastPool: string | null = null;
  let price: NodePrice | null = null;
  let group: GroupSums | null = null;
  let lastPod: number | null = null;
  let holder: HolderSums | null = null;

  function findGroup(node: NodeView | undefined, pool: string, currency: string): GroupSums {
    const nodePool = node?.nodePool ?? "";
    const capacityType = node?.capacityType ?? null;
    const key = JSON.stringify([pool, nodePool, capacityType, currency]);
    const known = groupOf.get(key);
    if (known !== undefined) return known;
    const found = { pool, nodePool, capacityType, currency, states: zeroStates(), unallocated: 0 };
    groupOf.set(key, found);
    groups.push(found);
    return found;
  }

  function findHolder(index: number): HolderSums | null {
    const pod = pods[index];
    if (pod === undefined) return null;
    const { workload, team, queue, namespace } = pod;
    const currency = price?.currency ?? null;
    const first = holderOf[workload] ?? null;
    for (let known = first; known !== null; known = known.next) {
      const isSame =
        known.team === team && known.queue === queue && known.namespace === namespace && known.currency === currency;
      if (isSame) return known;
    }
    const found = { workload, team, queue, namespace, currency, gpus: 0, cost: 0, allocation: 0, use: 0, next: first };
    holderOf[workload] = found;
    holders.push(found);
    return found;
  }

  function moveTo(node: string, pool: string): void {
    lastNode = node;
    lastPool = pool;
    lastPod = null;
    price = prices.byNode.get(node) ?? null;
    group = price === null ? null : findGroup(nodeOf.get(node), pool, price.currency);
  }

  function addHeld(pod: number, state: GpuState, gpus: number, cost: number): void {
    if (pod !== lastPod) {
      lastPod = pod;
      holder = findHolder(pod);
    }
    if (holder === null) return;
    holder.gpus += gpus;
    holder.cost += cost;
    holder.allocation += cost * byAllocation[state];
    holder.use += cost * byUse[state];
  }

  return {
    add({ node, pool, state, gpus, pod }) {
      if (node !== lastNode || pool !== lastPool) moveTo(node, pool);
      const cost = gpus * (price?.perGpuHour ?? 0);
      if (group !== null) {
        group.states[state] += cost;
        if (pod === null) group.unallocated += cost;
      }
      if (pod !== null) addHeld(pod, state, gpus, cost);
    },
    sums: () => ({ groups, holders }),
  };
}

/** 1 for the states that a team pays for, else 0. */
function chargedParts(basis: ChargeBasis, notCharged: readonly string[]): Readonly<Record<GpuState, number>> {
  const parts = zeroStates();
  for (const state of gpuStates) parts[state] = isCharged(state, basis, notCharged) ? 1 : 0;
  return parts;
}
