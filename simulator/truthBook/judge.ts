import type { Habit, NodeSpec, Scenario } from "../scenario.ts";
import type { Truth, TruthCard, TruthHolder } from "../truth.ts";
import type { TruthNodeState, TruthState } from "./monthTruth.ts";

/** A part of a card at one moment. */
export interface JudgedPart {
  readonly node: string;
  /** Who holds it; `null`: nobody. */
  readonly team: string | null;
  readonly isHeld: boolean;
  readonly state: TruthState;
  /** Physical GPUs. */
  readonly gpus: number;
}

export interface Judgement {
  readonly parts: readonly JudgedPart[];
  readonly nodes: ReadonlyMap<string, TruthNodeState>;
}

const idleThreshold = 0.05;
const minute = 60;
const idleAfter = { batch: 30 * minute, serving: 24 * 60 * minute } as const;
const stalledAfter = 15 * minute;
const notReadyGrace = 5 * minute;
const startingLimit = 15 * minute;
const servingKinds: ReadonlySet<string> = new Set(["Deployment", "StatefulSet", "LeaderWorkerSet"]);

/** Says in which state every GPU of a simulated cluster is, looked at from time to time; it remembers what it saw. */
export interface Judge {
  look(truth: Truth): Judgement;
}

/** When something was first seen to be so, without a break since. */
type Since = ReadonlyMap<string, number>;

/**
 * The states are those that Fairlead books by its design ("Double-entry GPU time"), written down here a second time, for whole
 * cards, from the simulator's own words.
 */
export function createJudge({ nodes, habits }: Scenario, warmPoolLabel: string): Judge {
  const specs = new Map(nodes.map((node) => [node.name, node]));
  const byName = [...habits].sort((a, b) => b.name.length - a.name.length);
  let boundSince: Since = new Map();
  let quietSince: Since = new Map();
  let hungSince: Since = new Map();
  let notReadySince: Since = new Map();
  let strayAt: Since = new Map();

  function stateOfHolder(card: TruthCard, holder: TruthHolder, at: number): TruthState | null {
    const lostAt = notReadySince.get(card.node);
    if (!card.healthy || (lostAt !== undefined && at - lostAt >= notReadyGrace)) return "unavailable";
    const key = keyOf(card, holder);
    const boundAt = boundSince.get(key) ?? at;
    if (!holder.hasRun && at - boundAt <= startingLimit) return "starting";
    if (lostAt !== undefined || specs.get(card.node)?.exporter === null) return "unobserved";
    const quietAt = quietSince.get(key);
    const habit = byName.find(({ name }) => holder.pod.startsWith(`${name}-`));
    const isIdle = quietAt !== undefined && at - quietAt >= idleAfter[classOf(habit)];
    if (isIdle) return "held_idle";
    const hungAt = hungSince.get(key);
    return hungAt !== undefined && at - hungAt >= stalledAfter ? "stalled" : null;
  }

  function partsOf(card: TruthCard, unheld: TruthState, at: number): JudgedPart[] {
    const parts: JudgedPart[] = [];
    const { node } = card;
    let rest = 1;
    for (const holder of card.holders) {
      const { team, share, activity } = holder;
      rest -= share;
      const state = stateOfHolder(card, holder, at);
      const part = { node, team, isHeld: true } as const;
      if (state !== null) parts.push({ ...part, state, gpus: share });
      else {
        parts.push({ ...part, state: "active", gpus: share * activity });
        parts.push({ ...part, state: "underused", gpus: share * (1 - activity) });
      }
    }
    const state = unheldState(card, unheld);
    if (rest > 1e-9) parts.push({ node, team: null, isHeld: false, state, gpus: rest });
    return parts;
  }

  function unheldState(card: TruthCard, ofNode: TruthState): TruthState {
    if (ofNode === "unavailable" || !card.healthy) return "unavailable";
    return card.holders.length === 0 && strayAt.has(card.uuid) ? "unattributed" : ofNode;
  }

  function nodeState(spec: NodeSpec | undefined, cards: readonly TruthCard[], at: number): TruthNodeState {
    const isWarm = spec?.labels[warmPoolLabel] === "true";
    if (cards.some((card) => strayAt.has(card.uuid))) return "ready";
    const holders = cards.flatMap((card) => card.holders.map((holder) => ({ card, holder })));
    if (holders.length === 0) return isWarm ? "warm_unallocated" : "idle_unallocated";
    const isIdle = holders.every(({ card, holder }) => stateOfHolder(card, holder, at) === "held_idle");
    if (!isIdle) return "ready";
    return isWarm ? "warm_held" : "idle_held";
  }

  return {
    look(truth) {
      const { at, cards } = truth;
      const shares = cards.flatMap((card) =>
        card.holders.map((holder) => ({ card, holder, key: keyOf(card, holder) })),
      );
      boundSince = since(
        boundSince,
        shares.map(({ key }) => key),
        at,
      );
      notReadySince = since(
        notReadySince,
        truth.nodes.flatMap(({ name, ready }) => (ready ? [] : [name])),
        at,
      );
      const quiet = shares.filter(
        ({ card, holder }) => holder.activity <= idleThreshold && !notReadySince.has(card.node),
      );
      quietSince = since(
        quietSince,
        quiet.map(({ key }) => key),
        at,
      );
      const hung = shares.filter(({ card, holder }) => holder.hangs && holder.share === 1 && card.holders.length === 1);
      hungSince = since(
        hungSince,
        hung.map(({ key }) => key),
        at,
      );
      strayAt = strayCards(strayAt, cards, at);
      const cardsOf = Map.groupBy(cards, ({ node }) => node);
      const states = new Map<string, TruthNodeState>();
      const parts: JudgedPart[] = [];
      for (const { name, ready, schedulable } of truth.nodes) {
        const own = cardsOf.get(name) ?? [];
        const state = !ready ? "not_ready" : !schedulable ? "cordoned" : nodeState(specs.get(name), own, at);
        states.set(name, state);
        for (const card of own) parts.push(...partsOf(card, unheldStates[state], at));
      }
      return { parts, nodes: states };
    },
  };
}

/** What the GPUs that nobody holds are, on a node in this state. */
const unheldStates: Readonly<Record<TruthNodeState, TruthState>> = {
  not_ready: "unavailable",
  cordoned: "cordoned",
  idle_unallocated: "idle_node",
  idle_held: "free",
  warm_unallocated: "free",
  warm_held: "free",
  ready: "free",
};

const keyOf = (card: TruthCard, { namespace, pod }: TruthHolder): string => `${card.uuid} ${namespace}/${pod}`;

const classOf = (habit: Habit | undefined): keyof typeof idleAfter =>
  habit !== undefined && servingKinds.has(habit.workload.kind) ? "serving" : "batch";

function since(before: Since, now: readonly string[], at: number): Since {
  return new Map(now.map((key) => [key, before.get(key) ?? at]));
}

/** Cards that were busy without a holder in the last half hour. */
function strayCards(before: Since, cards: readonly TruthCard[], at: number): Since {
  const stray = new Map<string, number>();
  for (const { uuid, holders, activity } of cards) {
    const last = holders.length === 0 && activity > idleThreshold ? at : before.get(uuid);
    if (last !== undefined && at - last <= idleAfter.batch) stray.set(uuid, last);
  }
  return stray;
}
