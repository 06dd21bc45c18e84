import { z } from "zod";
import type { Analysis } from "../analysis/analysis.ts";
import type { NodeView } from "../join/snapshot.ts";
import type { NodeTimeState } from "../model/idleKinds.ts";
import { nodeTimeState, unknownPool } from "./inventory.ts";
import type { Remembered, RememberedChange } from "./ledger/ledger.ts";
import { readText } from "./rememberedText.ts";

/** The states of nodes that are kept if they last long. Idle nodes that are kept ready on purpose are left out. */
export const nodeStreakStates = [
  "idle_unallocated",
  "idle_allocated",
  "cordoned",
  "not_ready",
] as const satisfies readonly NodeTimeState[];

type NodeStreakState = (typeof nodeStreakStates)[number];

/**
 * A node that was in one state for at least an hour without a break. Node and `begins` (seconds since the epoch) identify it.
 */
export interface NodeStreak {
  readonly node: string;
  readonly nodePool: string;
  /** The pool of the node; the first one if it has several. */
  readonly pool: string;
  readonly state: NodeStreakState;
  /** Physical GPUs; `null` if unknown. */
  readonly gpus: number | null;
  /** The first moment at which the node was seen in this state. */
  readonly begins: number;
  /**
   * The first moment at which it was seen in another state, or the last one at which it was seen at all; `null` while the
   * streak lasts.
   */
  readonly ends: number | null;
}

/** The changes since they were last taken. */
export interface StreakChanges {
  /** Streaks that have lasted for an hour by now, and those of them that have ended. */
  readonly nodeStreaks: readonly NodeStreak[];
  /** Since when nodes are in a state that is kept; only what has changed. */
  readonly remembered: readonly RememberedChange[];
}

/** Follows how long single nodes are idle, cordoned or not ready without a break. */
export interface NodeStreakAccount {
  /** Takes in a moment, `at` seconds since the epoch. While the objects are unknown, no streak begins or ends. */
  see(analysis: Pick<Analysis, "snapshot" | "idleNodes">, at: number): void;
  /** Returns the changes that must be written to the ledger. */
  takeChanges(): StreakChanges;
}

/** The shortest streak that is reported, in seconds. */
const shortestSeconds = 3600;

/**
 * The longest silence over which a streak continues, in seconds. After a longer one, it is not known what the node did, so the
 * streak ends with the last moment that was seen (docs/decisions/0006).
 */
const longestSilenceSeconds = 3600;

const kind = "node-streak";

/** A streak that has not ended. It is changed in place, so that a cycle creates no object for a node that does not change. */
interface Followed extends Pick<NodeStreak, "state" | "begins"> {
  nodePool: string;
  pool: string;
  gpus: number | null;
  isReported: boolean;
  /** Number of the moment at which it was last seen. */
  seen: number;
}

/**
 * Creates an account that continues what a ledger remembers. `seenAt` is the last moment that the ledger has covered, seconds
 * since the epoch.
 */
export function createNodeStreakAccount(
  remembered: readonly Remembered[] = [],
  seenAt: number | null = null,
): NodeStreakAccount {
  const followed = new Map<string, Followed>();
  let last = seenAt;
  let round = 0;
  let streaks: NodeStreak[] = [];
  let changes = new Map<string, string | null>();

  function report(node: string, { seen: _, isReported: __, ...streak }: Followed, ends: number | null): void {
    streaks.push({ node, ...streak, ends });
  }

  /** Ends a streak. If the clock was set back, the streak must not end before it began. */
  function end(node: string, streak: Followed, at: number): void {
    const ends = Math.max(at, streak.begins);
    if (streak.isReported || ends - streak.begins >= shortestSeconds) report(node, streak, ends);
    followed.delete(node);
    changes.set(node, null);
  }

  /**
   * Ends streaks after a silence: all of them if it was long, and otherwise those that begin later than now, because the clock
   * was set back.
   */
  function endUnseen(at: number, seen: number): void {
    const isLong = at - seen > longestSilenceSeconds;
    if (at >= seen && !isLong) return;
    for (const [node, streak] of followed) if (isLong || streak.begins > at) end(node, streak, seen);
  }

  function seeNode(node: NodeView, state: NodeStreak["state"] | undefined, at: number): void {
    const { name, physicalGpus: gpus } = node;
    let known = followed.get(name);
    if (known !== undefined && known.state !== state) {
      end(name, known, at);
      known = undefined;
    }
    if (state === undefined) return;
    const nodePool = node.nodePool || "unknown";
    const pool = node.pools[0] ?? unknownPool;
    const streak = known ?? { state, begins: at, nodePool, pool, gpus, isReported: false, seen: round };
    streak.seen = round;
    const isDue = !streak.isReported && at - streak.begins >= shortestSeconds;
    const isSame = streak.nodePool === nodePool && streak.pool === pool && streak.gpus === gpus;
    if (known !== undefined && isSame && !isDue) return;
    Object.assign(streak, { nodePool, pool, gpus });
    if (known === undefined) followed.set(name, streak);
    if (isDue) {
      report(name, streak, null);
      streak.isReported = true;
    }
    changes.set(name, streakText(streak));
  }

  for (const { kind: of, key, value } of remembered) {
    const streak = of === kind ? streakIn(value) : null;
    if (streak !== null) followed.set(key, streak);
  }

  return {
    see({ snapshot, idleNodes }, at) {
      endUnseen(at, last ?? Number.NEGATIVE_INFINITY);
      if (!snapshot.coverage.objects) return;
      last = at;
      round += 1;
      const idleOf = new Map(idleNodes.nodes.map((idle) => [idle.node, idle] as const));
      for (const [i, node] of snapshot.nodes.entries()) {
        const state = nodeTimeState(node, idleOf.get(i));
        seeNode(
          node,
          nodeStreakStates.find((one) => one === state),
          at,
        );
      }
      for (const [node, streak] of followed) if (streak.seen !== round) end(node, streak, at);
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

/** The text in which a streak that has not ended is remembered. */
function streakText({ state, begins, nodePool, pool, gpus, isReported }: Followed): string {
  return JSON.stringify([state, begins, nodePool, pool, gpus, isReported]);
}

const rowValue = z.tuple([
  z.enum(nodeStreakStates),
  z.number(),
  z.string(),
  z.string(),
  z.number().nullable(),
  z.boolean(),
]);

/** Reads what `streakText` wrote; `null` for anything else. */
function streakIn(text: string): Followed | null {
  const read = readText(rowValue, text);
  if (read === null) return null;
  const [state, begins, nodePool, pool, gpus, isReported] = read;
  return { state, begins, nodePool, pool, gpus, isReported, seen: 0 };
}
