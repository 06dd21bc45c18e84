import type { NodeView, Snapshot } from "../../join/snapshot.ts";
import { keepShape } from "../../kernel/inRanges.ts";
import { oncePer } from "../../kernel/once.ts";
import { createTupleInterner } from "../../kernel/tupleInterner.ts";
import { type ChargeBasis, isCharged } from "../../model/charge.ts";
import { type GpuState, gpuStates } from "../../model/gpuStates.ts";
import { type AccountingEntries, nodeFinder, noEntries } from "../accountingEntries.ts";
import type { Analysis } from "../analysis.ts";
import type { Prices } from "../prices/prices.ts";

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

/** The costs of a moment with the default settings, added up once for all callers. */
export const costSumsOf = oncePer((analysis: Analysis): CostSums => sumCosts(analysis));

type Sums<Record> = { -readonly [Key in keyof Record]: Record[Key] };
/** A group's sums, with `states` in the order of `gpuStates`. */
type GroupSums = Omit<Sums<NodeGroupCost>, "states"> & { readonly states: Float64Array };
type HolderSums = Sums<HolderCost> & { next: HolderSums | null };

/** Adds up accounting entries at the prices of the moment. */
export function sumCosts(
  analysis: Analysis,
  { notCharged }: Pick<CostSettings, "notCharged"> = defaultCostSettings,
): CostSums {
  if (analysis.prices.byNode.size === 0) return { groups: [], holders: [] };
  const { groups, holders } = new CostAdder(analysis, notCharged);
  return { groups: groups.map((sums) => ({ ...sums, states: byState(sums.states) })), holders };
}

/** The parts of an analysis that costs depend on. */
interface Priced {
  readonly snapshot: Pick<Snapshot, "nodes" | "pods" | "workloads">;
  readonly prices: Pick<Prices, "byNode">;
  readonly accountingEntries: AccountingEntries;
}

/**
 * Neighbouring accounting entries are mostly of one node, and all pods of a workload mostly have the same team, queue, namespace
 * and currency, so no accounting entry needs a key of text.
 */
class CostAdder {
  readonly groups: GroupSums[] = [];
  readonly holders: HolderSums[] = [];
  readonly #analysis: Priced;
  readonly #viewOf: (node: number) => NodeView | undefined;
  readonly #groupIds = createTupleInterner();
  /** The sums of holders by index of the workload, the newest first. */
  readonly #holderOf: (HolderSums | null)[];
  readonly #byAllocation: Float64Array;
  readonly #byUse: Float64Array;
  #lastNode = -1;
  #lastPool = -1;
  #lastPod = -1;
  #currency: string | null = null;
  #perGpuHour = Number.NaN;
  #group: GroupSums | null = null;
  #holder: HolderSums | null = null;

  constructor(analysis: Priced, notCharged: readonly string[]) {
    const { snapshot, accountingEntries } = analysis;
    this.#analysis = analysis;
    this.#viewOf = nodeFinder(snapshot, accountingEntries);
    this.#holderOf = snapshot.workloads.map(() => null);
    this.#byAllocation = chargedParts("allocation", notCharged);
    this.#byUse = chargedParts("use", notCharged);
    accountingEntries.addTo(this);
  }

  addRange(from: number, to: number): void {
    const { node, pool, pod, state, gpus } = this.#analysis.accountingEntries;
    for (let i = from; i < to; i++) {
      const ofNode = node[i] ?? 0;
      const ofPool = pool[i] ?? 0;
      if (ofNode !== this.#lastNode || ofPool !== this.#lastPool) this.#moveTo(ofNode, ofPool);
      this.#add(pod[i] ?? -1, state[i] ?? 0, gpus[i] ?? 0);
    }
  }

  #add(pod: number, stateId: number, gpus: number): void {
    const cost = gpus * this.#perGpuHour;
    const group = this.#group;
    if (group !== null) {
      group.states[stateId] = (group.states[stateId] ?? 0) + cost;
      if (pod < 0) group.unallocated += cost;
    }
    if (pod < 0) return;
    if (pod !== this.#lastPod) {
      this.#lastPod = pod;
      this.#holder = this.#findHolder(pod);
    }
    const holder = this.#holder;
    if (holder === null) return;
    holder.gpus += gpus;
    holder.cost += cost;
    holder.allocation += cost * (this.#byAllocation[stateId] ?? 0);
    holder.use += cost * (this.#byUse[stateId] ?? 0);
  }

  #moveTo(node: number, pool: number): void {
    const { accountingEntries: entries, prices } = this.#analysis;
    this.#lastNode = node;
    this.#lastPool = pool;
    this.#lastPod = -1;
    const price = prices.byNode.get(entries.nodes[node] ?? "");
    this.#currency = price?.currency ?? null;
    this.#perGpuHour = price?.perGpuHour ?? 0;
    this.#group =
      price === undefined ? null : this.#findGroup(this.#viewOf(node), entries.pools[pool] ?? "", price.currency);
  }

  #findGroup(node: NodeView | undefined, pool: string, currency: string): GroupSums {
    const nodePool = node?.nodePool ?? "";
    const capacityType = node?.capacityType ?? null;
    const known = this.groups[this.#groupIds.idOf([pool, nodePool, capacityType, currency])];
    if (known !== undefined) return known;
    const states = new Float64Array(gpuStates.length);
    const found = { pool, nodePool, capacityType, currency, states, unallocated: 0 };
    this.groups.push(found);
    return found;
  }

  #findHolder(index: number): HolderSums | null {
    const pod = this.#analysis.snapshot.pods[index];
    if (pod === undefined) return null;
    const { workload, team, queue, namespace } = pod;
    const currency = this.#currency;
    const first = this.#holderOf[workload] ?? null;
    for (let known = first; known !== null; known = known.next) {
      const isSame =
        known.team === team && known.queue === queue && known.namespace === namespace && known.currency === currency;
      if (isSame) return known;
    }
    const found = { workload, team, queue, namespace, currency, gpus: 0, cost: 0, allocation: 0, use: 0, next: first };
    this.#holderOf[workload] = found;
    this.holders.push(found);
    return found;
  }
}

keepShape(
  new CostAdder(
    {
      snapshot: { nodes: [], pods: [], workloads: [] },
      prices: { byNode: new Map() },
      accountingEntries: noEntries,
    },
    [],
  ),
);

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
