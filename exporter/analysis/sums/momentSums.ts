import type { Device, NodeView } from "../../join/snapshot.ts";
import { createTupleInterner } from "../../kernel/tupleInterner.ts";
import { type GpuState, gpuStates, stateIds } from "../../model/gpuStates.ts";
import type { AccountingEntry } from "../accountingEntry.ts";
import type { Analysis } from "../analysis.ts";
import { findSickGpus, type SickGpu } from "../health/findSickGpus.ts";
import { byState, type CostSettings, type CostSums, createCostAdder } from "./costSums.ts";

/** The label value for what is unknown. */
export const unknown = "unknown";

/** GPUs of nodes that cost the same, by state. */
export interface NodeGroup {
  readonly pool: string;
  readonly nodePool: string;
  readonly capacityType: string;
  readonly states: Readonly<Record<GpuState, number>>;
}

/** The allocated GPUs of one team in one pool, by state. */
export interface TeamPool {
  readonly pool: string;
  readonly states: Readonly<Record<GpuState, number>>;
}

/** Readings of a pool, added up over the things that report them, each once; `null` if nothing does. */
export interface PoolReadings {
  readonly memoryUsedBytes: number | null;
  readonly powerWatts: number | null;
}

/** A moment's accounting entries and devices, added up in all the ways that metric families need. */
export interface MomentSums {
  readonly groups: readonly NodeGroup[];
  /** Allocated GPUs by team and pool. */
  readonly teams: ReadonlyMap<string, ReadonlyMap<string, TeamPool>>;
  /** Readings by pool. */
  readonly readings: ReadonlyMap<string, PoolReadings>;
  /** Costs at the prices of the moment. */
  readonly costs: CostSums;
  readonly sick: readonly SickGpu[];
}

/** Adds up a moment: once over its accounting entries, and once over its devices. */
export function sumMoment(analysis: Analysis, settings?: Pick<CostSettings, "notCharged">): MomentSums {
  const { snapshot, accountingEntries } = analysis;
  const groups = groupSums(new Map(snapshot.nodes.map((node) => [node.name, node] as const)));
  const teams = teamSums(snapshot.pods);
  const costs = createCostAdder(analysis, settings);
  for (const accountingEntry of accountingEntries) {
    const stateId = stateIds.get(accountingEntry.state) ?? 0;
    groups.add(accountingEntry, stateId);
    teams.add(accountingEntry, stateId);
    costs.add(accountingEntry, stateId);
  }
  const readings = readingSums();
  for (const device of snapshot.devices) readings.add(device);
  return {
    groups: groups.list(),
    teams: teams.byTeam(),
    readings: readings.byPool,
    costs: costs.sums(),
    sick: findSickGpus(snapshot),
  };
}

/**
 * Amounts of 0 in the order of `gpuStates`: a state's name is looked up once per accounting entry, and not for each of its
 * sums.
 */
const noAmounts = (): Float64Array => new Float64Array(gpuStates.length);

/** Neighbouring accounting entries are mostly of one node and pool, so that only the first of them looks up its group. */
function groupSums(nodes: ReadonlyMap<string, NodeView>) {
  const groups: (Omit<NodeGroup, "states"> & { readonly amounts: Float64Array })[] = [];
  const ids = createTupleInterner();
  let lastNode: string | null = null;
  let lastPool: string | null = null;
  let last = noAmounts();
  const find = (node: NodeView | undefined, pool: string): Float64Array => {
    const nodePool = node?.nodePool || unknown;
    const capacityType = node?.capacityType ?? unknown;
    const known = groups[ids.idOf([pool, nodePool, capacityType])];
    if (known !== undefined) return known.amounts;
    const amounts = noAmounts();
    groups.push({ pool, nodePool, capacityType, amounts });
    return amounts;
  };
  return {
    list: (): NodeGroup[] => groups.map(({ amounts, ...group }) => ({ ...group, states: byState(amounts) })),
    add({ node, pool, gpus }: AccountingEntry, stateId: number): void {
      if (node !== lastNode || pool !== lastPool) {
        last = find(nodes.get(node), pool);
        lastNode = node;
        lastPool = pool;
      }
      last[stateId] = (last[stateId] ?? 0) + gpus;
    },
  };
}

/** Neighbouring accounting entries are mostly of one pod and pool. */
function teamSums(pods: Analysis["snapshot"]["pods"]) {
  const sums = new Map<string, Map<string, Float64Array>>();
  let lastPod: number | null = null;
  let lastPool: string | null = null;
  let last = noAmounts();
  const find = (team: string, pool: string): Float64Array => {
    let pools = sums.get(team);
    if (pools === undefined) {
      pools = new Map();
      sums.set(team, pools);
    }
    let amounts = pools.get(pool);
    if (amounts === undefined) {
      amounts = noAmounts();
      pools.set(pool, amounts);
    }
    return amounts;
  };
  return {
    byTeam: (): Map<string, Map<string, TeamPool>> =>
      mapValues(sums, (pools) => mapValues(pools, (amounts, pool) => ({ pool, states: byState(amounts) }))),
    add({ pod, pool, gpus }: AccountingEntry, stateId: number): void {
      if (pod === null) return;
      if (pod !== lastPod || pool !== lastPool) {
        const team = pods[pod]?.team;
        if (team === undefined) return;
        last = find(team, pool);
        lastPod = pod;
        lastPool = pool;
      }
      last[stateId] = (last[stateId] ?? 0) + gpus;
    },
  };
}

function mapValues<Value, Mapped>(
  map: ReadonlyMap<string, Value>,
  mapped: (value: Value, key: string) => Mapped,
): Map<string, Mapped> {
  const result = new Map<string, Mapped>();
  for (const [key, value] of map) result.set(key, mapped(value, key));
  return result;
}

interface PoolGpus {
  memoryUsedBytes: number | null;
  powerWatts: number | null;
  /**
   * The node whose devices were added last, and what was added for each GPU: an instance reports the power of its whole GPU.
   */
  node: string | null;
  readonly memoryOf: LargestValues;
  readonly powerOf: LargestValues;
}

/** Adds up readings. The devices of a node come one after the other. */
function readingSums() {
  const byPool = new Map<string, PoolGpus>();
  return {
    byPool,
    add({ node, pool, uuid, gpuInstance, reading }: Device): void {
      if (uuid === null || reading === null) return;
      let physicalGpus = byPool.get(pool);
      if (physicalGpus === undefined) {
        physicalGpus = {
          memoryUsedBytes: null,
          powerWatts: null,
          node,
          memoryOf: largestValues(),
          powerOf: largestValues(),
        };
        byPool.set(pool, physicalGpus);
      }
      if (physicalGpus.node !== node) {
        physicalGpus.node = node;
        physicalGpus.memoryOf.clear();
        physicalGpus.powerOf.clear();
      }
      const { memoryUsedBytes, powerWatts } = reading;
      if (memoryUsedBytes !== null) {
        const key = gpuInstance === null ? uuid : `${uuid}/${gpuInstance}`;
        physicalGpus.memoryUsedBytes =
          (physicalGpus.memoryUsedBytes ?? 0) + physicalGpus.memoryOf.grow(key, memoryUsedBytes);
      }
      if (powerWatts !== null)
        physicalGpus.powerWatts = (physicalGpus.powerWatts ?? 0) + physicalGpus.powerOf.grow(uuid, powerWatts);
    },
  };
}

/** The largest value for each key. */
interface LargestValues {
  clear(): void;
  /** Adds a value, and returns by how much the largest value of its key grows. */
  grow(key: string, value: number): number;
}

/** Most nodes have no more GPUs than this. */
const mostListed = 16;

/** A short list is searched and emptied faster than a map, so a map contains only what does not fit into the list. */
function largestValues(): LargestValues {
  const keys: string[] = [];
  const values: number[] = [];
  const others = new Map<string, number>();
  let listed = 0;
  return {
    clear() {
      listed = 0;
      if (others.size > 0) others.clear();
    },
    grow(key, value) {
      let at = listed - 1;
      while (at >= 0 && keys[at] !== key) at -= 1;
      const known = (at >= 0 ? values[at] : others.get(key)) ?? 0;
      if (value <= known) return 0;
      if (at >= 0) values[at] = value;
      else if (listed < mostListed) {
        keys[listed] = key;
        values[listed] = value;
        listed += 1;
      } else others.set(key, value);
      return value - known;
    },
  };
}
