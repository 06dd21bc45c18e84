import type { Analysis } from "../analysis/analysis.ts";
import type { Booking, GpuState } from "../analysis/booking.ts";
import type { Device, NodeView } from "../join/snapshot.ts";
import type { Steps } from "../kernel/steps.ts";
import { type CostSettings, type CostSums, createCostAdder } from "./costSums.ts";
import { type States, zeroStates } from "./zeroStates.ts";

/** The label value of what nothing says. */
export const unknown = "unknown";

/** GPUs that are alike to whoever pays for nodes, by state. */
export interface NodeGroup {
  readonly pool: string;
  readonly nodePool: string;
  readonly capacityType: string;
  readonly states: Readonly<Record<GpuState, number>>;
}

/** The held GPUs of one team in one pool, by state. */
export interface TeamPool {
  readonly pool: string;
  readonly states: Readonly<Record<GpuState, number>>;
}

/** Readings of a pool, added up over the things that report them, each once; `null` where nothing does. */
export interface PoolReadings {
  readonly memoryUsedBytes: number | null;
  readonly powerWatts: number | null;
}

/** A moment's bookings and devices, added up in all the ways that families need. */
export interface MomentSums {
  readonly groups: readonly NodeGroup[];
  /** By team and pool. */
  readonly teams: ReadonlyMap<string, ReadonlyMap<string, TeamPool>>;
  /** By pool. */
  readonly readings: ReadonlyMap<string, PoolReadings>;
  /** At the prices of the moment. */
  readonly costs: CostSums;
}

const partsPerStep = 20_000;

/** Adds up a moment: once over its bookings, and once over its devices. */
export function* sumMoment(analysis: Analysis, settings?: Pick<CostSettings, "notCharged">): Steps<MomentSums> {
  const { snapshot, bookings } = analysis;
  const groups = groupSums(new Map(snapshot.nodes.map((node) => [node.name, node] as const)));
  const teams = teamSums(snapshot.pods);
  const costs = createCostAdder(analysis, settings);
  yield* inParts(bookings, (booking) => {
    groups.add(booking);
    teams.add(booking);
    costs.add(booking);
  });
  const readings = readingSums();
  yield* inParts(snapshot.devices, readings.add);
  return { groups: groups.list, teams: teams.byTeam, readings: readings.byPool, costs: costs.sums() };
}

function* inParts<Item>(items: readonly Item[], add: (item: Item) => void): Steps<void> {
  for (let from = 0; from < items.length; from += partsPerStep) {
    yield;
    const to = Math.min(items.length, from + partsPerStep);
    for (let i = from; i < to; i += 1) {
      const item = items[i];
      if (item !== undefined) add(item);
    }
  }
  yield;
}

/** Neighbouring bookings are mostly of one node and pool, so that only the first of them looks up its group. */
function groupSums(nodes: ReadonlyMap<string, NodeView>) {
  const list: (NodeGroup & { readonly states: States })[] = [];
  const byKey = new Map<string, States>();
  let lastNode: string | null = null;
  let lastPool: string | null = null;
  let last: States = zeroStates();
  const find = (node: NodeView | undefined, pool: string): States => {
    const nodePool = node?.nodePool || unknown;
    const capacityType = node?.capacityType ?? unknown;
    const key = JSON.stringify([pool, nodePool, capacityType]);
    const known = byKey.get(key);
    if (known !== undefined) return known;
    const states = zeroStates();
    byKey.set(key, states);
    list.push({ pool, nodePool, capacityType, states });
    return states;
  };
  return {
    list,
    add({ node, pool, state, gpus }: Booking): void {
      if (node !== lastNode || pool !== lastPool) {
        last = find(nodes.get(node), pool);
        lastNode = node;
        lastPool = pool;
      }
      last[state] += gpus;
    },
  };
}

/** Neighbouring bookings are mostly of one pod and pool. */
function teamSums(pods: Analysis["snapshot"]["pods"]) {
  const byTeam = new Map<string, Map<string, TeamPool & { readonly states: States }>>();
  let lastPod: number | null = null;
  let lastPool: string | null = null;
  let last: States = zeroStates();
  const find = (team: string, pool: string): States => {
    let pools = byTeam.get(team);
    if (pools === undefined) {
      pools = new Map();
      byTeam.set(team, pools);
    }
    let sum = pools.get(pool);
    if (sum === undefined) {
      sum = { pool, states: zeroStates() };
      pools.set(pool, sum);
    }
    return sum.states;
  };
  return {
    byTeam,
    add({ pod, pool, state, gpus }: Booking): void {
      if (pod === null) return;
      if (pod !== lastPod || pool !== lastPool) {
        const team = pods[pod]?.team;
        if (team === undefined) return;
        last = find(team, pool);
        lastPod = pod;
        lastPool = pool;
      }
      last[state] += gpus;
    },
  };
}

interface PoolCards {
  memoryUsedBytes: number | null;
  powerWatts: number | null;
  /** The node whose devices were seen last, and what was added for each: an instance has the power of its whole card. */
  node: string | null;
  readonly memoryOf: Map<string, number>;
  readonly powerOf: Map<string, number>;
}

/** The devices of a node stand together. */
function readingSums() {
  const byPool = new Map<string, PoolCards>();
  return {
    byPool,
    add({ node, pool, uuid, gpuInstance, reading }: Device): void {
      if (uuid === null || reading === null) return;
      let cards = byPool.get(pool);
      if (cards === undefined) {
        cards = { memoryUsedBytes: null, powerWatts: null, node, memoryOf: new Map(), powerOf: new Map() };
        byPool.set(pool, cards);
      }
      if (cards.node !== node) {
        cards.node = node;
        cards.memoryOf.clear();
        cards.powerOf.clear();
      }
      const { memoryUsedBytes, powerWatts } = reading;
      if (memoryUsedBytes !== null) {
        const key = gpuInstance === null ? uuid : `${uuid}/${gpuInstance}`;
        cards.memoryUsedBytes = (cards.memoryUsedBytes ?? 0) + addedTo(cards.memoryOf, key, memoryUsedBytes);
      }
      if (powerWatts !== null) cards.powerWatts = (cards.powerWatts ?? 0) + addedTo(cards.powerOf, uuid, powerWatts);
    },
  };
}

/** By how much the largest value of a key grows. */
function addedTo(largest: Map<string, number>, key: string, value: number): number {
  const known = largest.get(key) ?? 0;
  if (value <= known) return 0;
  largest.set(key, value);
  return value - known;
}
