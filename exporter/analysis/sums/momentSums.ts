import type { Device, NodeView, Snapshot } from "../../join/snapshot.ts";
import { inRanges, keepShape } from "../../kernel/inRanges.ts";
import { createTupleInterner } from "../../kernel/tupleInterner.ts";
import { type GpuState, gpuStates } from "../../model/gpuStates.ts";
import { type AccountingEntries, nodeFinder, noEntries } from "../accountingEntries.ts";
import type { Analysis } from "../analysis.ts";
import { findSickGpus, type SickGpu } from "../health/findSickGpus.ts";
import { byState, type CostSettings, type CostSums, sumCosts } from "./costSums.ts";

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

/** Adds up a moment. */
export function sumMoment(analysis: Analysis, settings?: Pick<CostSettings, "notCharged">): MomentSums {
  return {
    groups: new GroupSums(analysis).list(),
    teams: new TeamSums(analysis).byTeam(),
    readings: readingSums(analysis.snapshot),
    costs: sumCosts(analysis, settings),
    sick: findSickGpus(analysis.snapshot),
  };
}

/** Amounts of 0 in the order of `gpuStates`. */
const noAmounts = (): Float64Array => new Float64Array(gpuStates.length);

/** Accounting entries, and what of their Snapshot is needed. */
interface Entries<Part extends keyof Snapshot> {
  readonly snapshot: Pick<Snapshot, Part>;
  readonly accountingEntries: AccountingEntries;
}

/** Neighbouring accounting entries are mostly of one node and pool, so that only the first of them looks up its group. */
class GroupSums {
  readonly #groups: (Omit<NodeGroup, "states"> & { readonly amounts: Float64Array })[] = [];
  readonly #ids = createTupleInterner();
  readonly #entries: AccountingEntries;
  readonly #viewOf: (node: number) => NodeView | undefined;
  #lastNode = -1;
  #lastPool = -1;
  #last = noAmounts();

  constructor({ snapshot, accountingEntries }: Entries<"nodes">) {
    this.#entries = accountingEntries;
    this.#viewOf = nodeFinder(snapshot, accountingEntries);
    accountingEntries.addTo(this);
  }

  addRange(from: number, to: number): void {
    const { node, pool, state, gpus } = this.#entries;
    for (let i = from; i < to; i++) {
      const ofNode = node[i] ?? 0;
      const ofPool = pool[i] ?? 0;
      if (ofNode !== this.#lastNode || ofPool !== this.#lastPool) this.#moveTo(ofNode, ofPool);
      const stateId = state[i] ?? 0;
      this.#last[stateId] = (this.#last[stateId] ?? 0) + (gpus[i] ?? 0);
    }
  }

  list(): readonly NodeGroup[] {
    return this.#groups.map(({ amounts, ...group }) => ({ ...group, states: byState(amounts) }));
  }

  #moveTo(node: number, pool: number): void {
    this.#lastNode = node;
    this.#lastPool = pool;
    this.#last = this.#find(this.#viewOf(node), this.#entries.pools[pool] ?? unknown);
  }

  #find(node: NodeView | undefined, pool: string): Float64Array {
    const nodePool = node?.nodePool || unknown;
    const capacityType = node?.capacityType ?? unknown;
    const known = this.#groups[this.#ids.idOf([pool, nodePool, capacityType])];
    if (known !== undefined) return known.amounts;
    const amounts = noAmounts();
    this.#groups.push({ pool, nodePool, capacityType, amounts });
    return amounts;
  }
}

keepShape(new GroupSums({ snapshot: { nodes: [] }, accountingEntries: noEntries }));

/** Neighbouring accounting entries are mostly of one pod and pool. */
class TeamSums {
  readonly #sums = new Map<string, Map<string, Float64Array>>();
  readonly #pods: Analysis["snapshot"]["pods"];
  readonly #entries: AccountingEntries;
  #lastPod = -1;
  #lastPool = -1;
  #last: Float64Array | null = null;

  constructor({ snapshot, accountingEntries }: Entries<"pods">) {
    this.#pods = snapshot.pods;
    this.#entries = accountingEntries;
    accountingEntries.addTo(this);
  }

  addRange(from: number, to: number): void {
    const { pod, pool, state, gpus } = this.#entries;
    for (let i = from; i < to; i++) {
      const ofPod = pod[i] ?? -1;
      if (ofPod < 0) continue;
      const ofPool = pool[i] ?? 0;
      if (ofPod !== this.#lastPod || ofPool !== this.#lastPool) this.#moveTo(ofPod, ofPool);
      if (this.#last === null) continue;
      const stateId = state[i] ?? 0;
      this.#last[stateId] = (this.#last[stateId] ?? 0) + (gpus[i] ?? 0);
    }
  }

  byTeam(): ReadonlyMap<string, ReadonlyMap<string, TeamPool>> {
    return mapValues(this.#sums, (pools) => mapValues(pools, (amounts, pool) => ({ pool, states: byState(amounts) })));
  }

  #moveTo(pod: number, pool: number): void {
    this.#lastPod = pod;
    this.#lastPool = pool;
    const team = this.#pods[pod]?.team;
    this.#last = team === undefined ? null : this.#find(team, this.#entries.pools[pool] ?? unknown);
  }

  #find(team: string, pool: string): Float64Array {
    const pools = this.#sums.get(team) ?? new Map<string, Float64Array>();
    this.#sums.set(team, pools);
    const amounts = pools.get(pool) ?? noAmounts();
    pools.set(pool, amounts);
    return amounts;
  }
}

keepShape(new TeamSums({ snapshot: { pods: [] }, accountingEntries: noEntries }));

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

function readingSums({ devices }: Analysis["snapshot"]): ReadonlyMap<string, PoolReadings> {
  const sums = new ReadingSums(devices);
  inRanges(devices.length, sums);
  return sums.byPool;
}

/** Adds up readings. The devices of a node come one after the other. */
class ReadingSums {
  readonly byPool = new Map<string, PoolGpus>();
  readonly #devices: readonly Device[];

  constructor(devices: readonly Device[]) {
    this.#devices = devices;
  }

  addRange(from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const device = this.#devices[i];
      if (device !== undefined) this.#add(device);
    }
  }

  #add({ node, pool, uuid, gpuInstance, reading }: Device): void {
    if (uuid === null || reading === null) return;
    const physicalGpus = this.#gpusOf(pool);
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
  }

  #gpusOf(pool: string): PoolGpus {
    const known = this.byPool.get(pool);
    if (known !== undefined) return known;
    const [memoryOf, powerOf] = [new LargestValues(), new LargestValues()];
    const physicalGpus: PoolGpus = { memoryUsedBytes: null, powerWatts: null, node: null, memoryOf, powerOf };
    this.byPool.set(pool, physicalGpus);
    return physicalGpus;
  }
}

keepShape(new ReadingSums([]));

/** Most nodes have no more GPUs than this. */
const mostListed = 16;

/**
 * The largest value for each key. A short list is searched and emptied faster than a map, so a map contains only what does not
 * fit into the list.
 */
class LargestValues {
  readonly #keys: string[] = [];
  readonly #values: number[] = [];
  readonly #others = new Map<string, number>();
  #listed = 0;

  clear(): void {
    this.#listed = 0;
    if (this.#others.size > 0) this.#others.clear();
  }

  /** Adds a value, and returns by how much the largest value of its key grows. */
  grow(key: string, value: number): number {
    let at = this.#listed - 1;
    while (at >= 0 && this.#keys[at] !== key) at -= 1;
    const known = (at >= 0 ? this.#values[at] : this.#others.get(key)) ?? 0;
    if (value <= known) return 0;
    if (at >= 0) this.#values[at] = value;
    else if (this.#listed < mostListed) {
      this.#keys[this.#listed] = key;
      this.#values[this.#listed] = value;
      this.#listed += 1;
    } else this.#others.set(key, value);
    return value - known;
  }
}

keepShape(new LargestValues());
