import type { NodeView } from "../../join/snapshot.ts";
import { createTupleInterner } from "../../kernel/tupleInterner.ts";
import { type ChargeBasis, isCharged } from "../../model/charge.ts";
import { type GpuState, gpuStates, stateIds } from "../../model/gpuStates.ts";
import type { AccountingEntry } from "../accountingEntry.ts";
import type { Analysis } from "../analysis.ts";

/** The settings by which costs are shown. */
export interface CostSettings {
  /** States of allocated time for which no team pays. */
  readonly notCharged: readonly string[];
  /** Workloads that have series of their own. */
  readonly topWorkloads: number;
}

/** The settings that apply by default. */
export const defaultCostSettings: CostSettings = { notCharged: ["unavailable"], topWorkloads: 20 };

/** What the GPUs of alike nodes cost per hour, by state. */
export interface NodeGroupCost {
  readonly pool: string;
  readonly nodePool: string;
  readonly capacityType: NodeView["capacityType"];
  readonly currency: string;
  readonly states: Readonly<Record<GpuState, number>>;
  /** The cost of what nobody holds, over all states. */
  readonly unallocated: number;
}

/** What one workload's pods of the same team, queue and namespace hold, per hour. */
export interface HolderCost {
  /** Index into `Snapshot.workloads`. */
  readonly workload: number;
  readonly team: string;
  readonly queue: string | null;
  readonly namespace: string;
  /** Currency of the costs; `null` for nodes without a price, for which there are GPUs but no costs. */
  readonly currency: string | null;
  readonly gpus: number;
  readonly cost: number;
  /** The part of it that the team pays, by charge basis. */
  readonly allocation: number;
  readonly use: number;
}

/** What everything costs at one moment, per hour. Nothing is listed if nothing has a price. */
export interface CostSums {
  readonly groups: readonly NodeGroupCost[];
  readonly holders: readonly HolderCost[];
}

/** Costs being added up. */
export interface CostAdder {
  /** `stateId`: the number of the accounting entry's state, for callers that have looked it up. */
  add(accountingEntry: AccountingEntry, stateId?: number): void;
  sums(): CostSums;
}

const made = new WeakMap<Analysis, CostSums>();

/** The costs of a moment with the default settings, added up once for all callers. */
export function costSumsOf(analysis: Analysis): CostSums {
  const known = made.get(analysis);
  if (known !== undefined) return known;
  const adder = createCostAdder(analysis);
  for (const accountingEntry of analysis.accountingEntries) adder.add(accountingEntry);
  const sums = adder.sums();
  made.set(analysis, sums);
  return sums;
}

type Sums<Record> = { -readonly [Key in keyof Record]: Record[Key] };
/** A group's sums, with `states` in the order of `gpuStates`. */
type GroupSums = Omit<Sums<NodeGroupCost>, "states"> & { readonly states: Float64Array };
type HolderSums = Sums<HolderCost> & { next: HolderSums | null };

/**
 * Adds up accounting entries at the prices of the moment. Neighbouring accounting entries are mostly of one node, and all pods
 * of a workload mostly have the same team, queue, namespace and currency, so no accounting entry needs a key of text.
 */
export function createCostAdder(
  { snapshot, prices }: Analysis,
  { notCharged }: Pick<CostSettings, "notCharged"> = defaultCostSettings,
): CostAdder {
  if (prices.byNode.size === 0) return { add: () => {}, sums: () => ({ groups: [], holders: [] }) };
  const { nodes, pods } = snapshot;
  const nodeOf = new Map(nodes.map((node) => [node.name, node] as const));
  const groups: GroupSums[] = [];
  const groupIds = createTupleInterner();
  const holders: HolderSums[] = [];
  /** The sums of holders by index of the workload, the newest first. */
  const holderOf: (HolderSums | null)[] = snapshot.workloads.map(() => null);
  const byAllocation = chargedParts("allocation", notCharged);
  const byUse = chargedParts("use", notCharged);
  let lastNode: string | null = null;
  let lastPool: string | null = null;
  let currency: string | null = null;
  let perGpuHour = 0;
  let group: GroupSums | null = null;
  let lastPod: number | null = null;
  let holder: HolderSums | null = null;

  function findGroup(node: NodeView | undefined, pool: string, ofCurrency: string): GroupSums {
    const nodePool = node?.nodePool ?? "";
    const capacityType = node?.capacityType ?? null;
    const known = groups[groupIds.idOf([pool, nodePool, capacityType, ofCurrency])];
    if (known !== undefined) return known;
    const states = new Float64Array(gpuStates.length);
    const found = { pool, nodePool, capacityType, currency: ofCurrency, states, unallocated: 0 };
    groups.push(found);
    return found;
  }

  function findHolder(index: number): HolderSums | null {
    const pod = pods[index];
    if (pod === undefined) return null;
    const { workload, team, queue, namespace } = pod;
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
    const price = prices.byNode.get(node);
    currency = price?.currency ?? null;
    perGpuHour = price?.perGpuHour ?? 0;
    group = price === undefined ? null : findGroup(nodeOf.get(node), pool, price.currency);
  }

  function addAllocated(pod: number, stateId: number, gpus: number, cost: number): void {
    if (pod !== lastPod) {
      lastPod = pod;
      holder = findHolder(pod);
    }
    if (holder === null) return;
    holder.gpus += gpus;
    holder.cost += cost;
    holder.allocation += cost * (byAllocation[stateId] ?? 0);
    holder.use += cost * (byUse[stateId] ?? 0);
  }

  return {
    add({ node, pool, state, gpus, pod }, stateId = stateIds.get(state) ?? 0) {
      if (node !== lastNode || pool !== lastPool) moveTo(node, pool);
      const cost = gpus * perGpuHour;
      if (group !== null) {
        group.states[stateId] = (group.states[stateId] ?? 0) + cost;
        if (pod === null) group.unallocated += cost;
      }
      if (pod !== null) addAllocated(pod, stateId, gpus, cost);
    },
    sums: () => ({ groups: groups.map((sums) => ({ ...sums, states: byState(sums.states) })), holders }),
  };
}

/** 1 for the states that a team pays for, else 0; in the order of `gpuStates`. */
function chargedParts(basis: ChargeBasis, notCharged: readonly string[]): Float64Array {
  return Float64Array.from(gpuStates, (state) => (isCharged(state, basis, notCharged) ? 1 : 0));
}

/** Returns amounts, given in the order of `gpuStates`, by the names of the states. */
export function byState(amounts: Float64Array): States {
  const states = zeroStates();
  for (const [id, state] of gpuStates.entries()) states[state] = amounts[id] ?? 0;
  return states;
}

/** An amount for each state of GPUs, to be added to. */
type States = Record<GpuState, number>;

/** Returns an amount of 0 for every state. */
export function zeroStates(): States {
  return {
    active: 0,
    underutilized: 0,
    idle: 0,
    stalled: 0,
    starting: 0,
    gang_wait: 0,
    unobserved: 0,
    unavailable: 0,
    free: 0,
    idle_node: 0,
    unattributed: 0,
    cordoned: 0,
  };
}
