import type { Analysis } from "../analysis/analysis.ts";
import type { NodeView } from "../join/snapshot.ts";
import { parseJson } from "../kernel/parseJson.ts";
import type { NodeTimeState } from "../model/idleKinds.ts";
import { nodeTimeState, unknownPool } from "./inventory.ts";
import type { Remembered, RememberedChange } from "./ledger/ledger.ts";
import { type NodeStreak, type NodeStreakState, nodeStreakStates } from "./nodeStreak.ts";

/** What is new since it was last taken. */
export interface StreakChanges {
  /** Streaks that have lasted for an hour by now, and those of them that have ended. */
  readonly nodeStreaks: readonly NodeStreak[];
  /** Since when nodes are in a state that is kept; changes only. */
  readonly remembered: readonly RememberedChange[];
}

/** Follows how long single nodes are idle, cordoned or not ready without a break. */
export interface NodeStreakAccount {
  /** Takes in a moment, at `at` (seconds since the epoch). While the objects are unknown, nothing begins or ends. */
  see(analysis: Pick<Analysis, "snapshot" | "idleNodes">, at: number): void;
  /** What must be written to the ledger. */
  takeChanges(): StreakChanges;
}

/** A shorter streak is not reported. */
const shortestSeconds = 3600;

/**
 * After a longer silence nobody knows what the node did: the streak ends with the last moment that was seen
 * (docs/decisions/0006).
 */
const longestSilenceSeconds = 3600;

const kind = "node-streak";
const nothing = 255;

/** By number in `nodeStreakStates`; all other states are not followed. */
const codes: ReadonlyMap<NodeTimeState, number> = new Map(
  nodeStreakStates.map((state, code) => [state, code] as const),
);

/**
 * Creates an account that knows what a ledger remembers: `seenAt` is the last moment that it has covered, seconds since the
 * epoch. Nodes have places in columns, so that a cycle creates no object for a node that does not change.
 */
export function createNodeStreakAccount(
  remembered: readonly Remembered[] = [],
  seenAt: number | null = null,
): NodeStreakAccount {
  const places = new Map<string, number>();
  const free: number[] = [];
  /** Node pool and pool of the node at each place. */
  const nodePools: string[] = [];
  const pools: string[] = [];
  let columns = createColumns(1024);
  let last = seenAt;
  let round = 0;
  let seenPlaces = 0;
  let streaks: NodeStreak[] = [];
  let changes = new Map<string, string | null>();

  function begin(name: string, code: number, at: number): number {
    const place = free.pop() ?? places.size;
    if (place >= columns.state.length) columns = grown(columns);
    places.set(name, place);
    columns.state[place] = code;
    columns.begins[place] = at;
    columns.isReported[place] = 0;
    return place;
  }

  function isSame(place: number, nodePool: string, pool: string, gpus: number): boolean {
    return nodePools[place] === nodePool && pools[place] === pool && Object.is(columns.gpus[place], gpus);
  }

  function describe(place: number, nodePool: string, pool: string, gpus: number): void {
    nodePools[place] = nodePool;
    pools[place] = pool;
    columns.gpus[place] = gpus;
  }

  function streakAt(node: string, place: number, ends: number | null): NodeStreak {
    const gpus = columns.gpus[place] ?? Number.NaN;
    return {
      node,
      nodePool: nodePools[place] ?? "unknown",
      pool: pools[place] ?? unknownPool,
      state: nodeStreakStates[columns.state[place] ?? 0] ?? "idle_unallocated",
      gpus: Number.isNaN(gpus) ? null : gpus,
      begins: columns.begins[place] ?? 0,
      ends,
    };
  }

  const isLong = (place: number, at: number): boolean => at - (columns.begins[place] ?? at) >= shortestSeconds;

  /** A clock may have been set back: nothing ends before it began. */
  function end(name: string, place: number, at: number): void {
    const ends = Math.max(at, columns.begins[place] ?? at);
    if (columns.isReported[place] === 1 || isLong(place, ends)) streaks.push(streakAt(name, place, ends));
    places.delete(name);
    free.push(place);
    changes.set(name, null);
  }

  /**
   * Ends streaks after a silence: all of them after a long one, and those that begin after now, because the clock was set
   * back.
   */
  function endUnseen(at: number, seen: number): void {
    if (at >= seen && at - seen <= longestSilenceSeconds) return;
    for (const [name, place] of places) {
      if (at - seen > longestSilenceSeconds || (columns.begins[place] ?? 0) > at) end(name, place, seen);
    }
  }

  function seeNode(node: NodeView, code: number, at: number): void {
    let place = places.get(node.name);
    if (place !== undefined && columns.state[place] !== code) {
      end(node.name, place, at);
      place = undefined;
    }
    if (code === nothing) return;
    const isNew = place === undefined;
    place ??= begin(node.name, code, at);
    columns.seen[place] = round;
    seenPlaces += 1;
    const nodePool = node.nodePool || "unknown";
    const pool = node.pools[0] ?? unknownPool;
    const gpus = node.physicalGpus ?? Number.NaN;
    const isDue = columns.isReported[place] === 0 && isLong(place, at);
    if (!isNew && !isDue && isSame(place, nodePool, pool, gpus)) return;
    describe(place, nodePool, pool, gpus);
    const streak = streakAt(node.name, place, null);
    if (isDue) {
      streaks.push(streak);
      columns.isReported[place] = 1;
    }
    changes.set(node.name, streakText(streak, columns.isReported[place] === 1));
  }

  for (const { kind: of, key, value } of remembered) {
    const streak = of === kind ? streakIn(value) : null;
    if (streak === null) continue;
    const place = begin(key, streak.code, streak.begins);
    describe(place, streak.nodePool, streak.pool, streak.gpus);
    columns.isReported[place] = streak.isReported ? 1 : 0;
  }

  return {
    see({ snapshot, idleNodes }, at) {
      endUnseen(at, last ?? Number.NEGATIVE_INFINITY);
      if (!snapshot.coverage.objects) return;
      last = at;
      round += 1;
      seenPlaces = 0;
      const { nodes } = snapshot;
      const idleOf = new Int32Array(nodes.length).fill(-1);
      for (const [i, { node }] of idleNodes.nodes.entries()) idleOf[node] = i;
      for (let i = 0; i < nodes.length; i += 1) {
        const node = nodes[i];
        if (node === undefined) continue;
        seeNode(node, codes.get(nodeTimeState(node, idleNodes.nodes[idleOf[i] ?? -1])) ?? nothing, at);
      }
      if (seenPlaces === places.size) return;
      for (const [name, place] of places) if (columns.seen[place] !== round) end(name, place, at);
    },
    takeChanges() {
      const taken = {
        nodeStreaks: streaks,
        remembered: [...changes].map(([key, value]) => ({ kind, key, value })),
      };
      streaks = [];
      changes = new Map();
      return taken;
    },
  };
}

/** One value for each place. */
interface Columns {
  readonly state: Uint8Array;
  readonly isReported: Uint8Array;
  /** Number of the moment at which it was last seen. */
  readonly seen: Float64Array;
  readonly begins: Float64Array;
  /** NaN if unknown. */
  readonly gpus: Float64Array;
}

function createColumns(length: number): Columns {
  return {
    state: new Uint8Array(length),
    isReported: new Uint8Array(length),
    seen: new Float64Array(length),
    begins: new Float64Array(length),
    gpus: new Float64Array(length).fill(Number.NaN),
  };
}

function grown(columns: Columns): Columns {
  const larger = createColumns(2 * columns.state.length);
  larger.state.set(columns.state);
  larger.isReported.set(columns.isReported);
  larger.seen.set(columns.seen);
  larger.begins.set(columns.begins);
  larger.gpus.set(columns.gpus);
  return larger;
}

/** The text under which a lasting streak is remembered. */
function streakText({ state, begins, nodePool, pool, gpus }: NodeStreak, isReported: boolean): string {
  return JSON.stringify([state, begins, nodePool, pool, gpus, isReported]);
}

interface RememberedStreak extends Pick<NodeStreak, "begins" | "nodePool" | "pool"> {
  readonly code: number;
  /** NaN if unknown. */
  readonly gpus: number;
  readonly isReported: boolean;
}

const isStreakState = (text: string): text is NodeStreakState => nodeStreakStates.some((state) => state === text);

/** Reads what `streakText` wrote; `null` for anything else. */
function streakIn(text: string): RememberedStreak | null {
  const value = parseJson(text);
  if (!Array.isArray(value)) return null;
  const [state, begins, nodePool, pool, gpus, isReported]: readonly unknown[] = value;
  const code = typeof state === "string" && isStreakState(state) ? nodeStreakStates.indexOf(state) : -1;
  if (code < 0 || typeof begins !== "number" || typeof nodePool !== "string" || typeof pool !== "string") return null;
  return {
    code,
    begins,
    nodePool,
    pool,
    gpus: typeof gpus === "number" ? gpus : Number.NaN,
    isReported: isReported === true,
  };
}
