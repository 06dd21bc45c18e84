import type { Habit, NodeSpec, Scenario } from "../../../simulator/scenario.ts";
import type { Truth, TruthGpu, TruthHolder } from "../../../simulator/truth.ts";
import type { TruthNodeState, TruthState } from "./monthTruth.ts";

/** A part of a GPU at one moment. */
export interface JudgedPart {
  readonly node: string;
  /** Who holds it; `null`: nobody. */
  readonly team: string | null;
  readonly isAllocated: boolean;
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
 * The states are those that Fairlead accounts by its design ("Double-entry GPU time"), written down here a second time, for whole
 * GPUs, from the simulator's own words.
 */
export function createJudge({ nodes, habits }: Scenario, warmPoolLabel: string): Judge {
  const specs = new Map(nodes.map((node) => [node.name, node]));
  const byName = [...habits].sort((a, b) => b.name.length - a.name.length);
  let boundSince: Since = new Map();
  let quietSince: Since = new Map();
  let hungSince: Since = new Map();
  let notReadySince: Since = new Map();
  let strayAt: Since = new Map();

  function stateOfHolder(physicalGpu: TruthGpu, holder: TruthHolder, at: number): TruthState | null {
    const lostAt = notReadySince.get(physicalGpu.node);
    if (!physicalGpu.healthy || (lostAt !== undefined && at - lostAt >= notReadyGrace)) return "unavailable";
    const key = keyOf(physicalGpu, holder);
    const boundAt = boundSince.get(key) ?? at;
    if (!holder.hasRun && at - boundAt <= startingLimit) return "starting";
    if (lostAt !== undefined || specs.get(physicalGpu.node)?.exporter === null) return "unobserved";
    const quietAt = quietSince.get(key);
    const habit = byName.find(({ name }) => holder.pod.startsWith(`${name}-`));
    const isIdle = quietAt !== undefined && at - quietAt >= idleAfter[classOf(habit)];
    if (isIdle) return "idle";
    const hungAt = hungSince.get(key);
    return hungAt !== undefined && at - hungAt >= stalledAfter ? "stalled" : null;
  }

  function partsOf(physicalGpu: TruthGpu, unallocated: TruthState, at: number): JudgedPart[] {
    const parts: JudgedPart[] = [];
    const { node } = physicalGpu;
    let rest = 1;
    for (const holder of physicalGpu.holders) {
      const { team, share, activity } = holder;
      rest -= share;
      const state = stateOfHolder(physicalGpu, holder, at);
      const part = { node, team, isAllocated: true } as const;
      if (state !== null) parts.push({ ...part, state, gpus: share });
      else {
        parts.push({ ...part, state: "active", gpus: share * activity });
        parts.push({ ...part, state: "underutilized", gpus: share * (1 - activity) });
      }
    }
    const state = unallocatedState(physicalGpu, unallocated);
    if (rest > 1e-9) parts.push({ node, team: null, isAllocated: false, state, gpus: rest });
    return parts;
  }

  function unallocatedState(physicalGpu: TruthGpu, ofNode: TruthState): TruthState {
    if (ofNode === "unavailable" || !physicalGpu.healthy) return "unavailable";
    return physicalGpu.holders.length === 0 && strayAt.has(physicalGpu.uuid) ? "unattributed" : ofNode;
  }

  function nodeState(spec: NodeSpec | undefined, physicalGpus: readonly TruthGpu[], at: number): TruthNodeState {
    const isWarm = spec?.labels[warmPoolLabel] === "true";
    if (physicalGpus.some((physicalGpu) => strayAt.has(physicalGpu.uuid))) return "ready";
    const holders = physicalGpus.flatMap((physicalGpu) =>
      physicalGpu.holders.map((holder) => ({ physicalGpu, holder })),
    );
    if (holders.length === 0) return isWarm ? "warm_unallocated" : "idle_unallocated";
    const isIdle = holders.every(({ physicalGpu, holder }) => stateOfHolder(physicalGpu, holder, at) === "idle");
    if (!isIdle) return "ready";
    return isWarm ? "warm_allocated" : "idle_allocated";
  }

  return {
    look(truth) {
      const { at, physicalGpus } = truth;
      const shares = physicalGpus.flatMap((physicalGpu) =>
        physicalGpu.holders.map((holder) => ({ physicalGpu, holder, key: keyOf(physicalGpu, holder) })),
      );
      boundSince = since(boundSince, shares, at);
      const notReady = truth.nodes.filter(({ ready }) => !ready).map(({ name }) => ({ key: name }));
      notReadySince = since(notReadySince, notReady, at);
      const quiet = shares.filter(
        ({ physicalGpu, holder }) => holder.activity <= idleThreshold && !notReadySince.has(physicalGpu.node),
      );
      quietSince = since(quietSince, quiet, at);
      const hung = shares.filter(
        ({ physicalGpu, holder }) => holder.hangs && holder.share === 1 && physicalGpu.holders.length === 1,
      );
      hungSince = since(hungSince, hung, at);
      strayAt = strayGpus(strayAt, physicalGpus, at);
      const gpusOf = Map.groupBy(physicalGpus, ({ node }) => node);
      const states = new Map<string, TruthNodeState>();
      const parts: JudgedPart[] = [];
      for (const { name, ready, schedulable } of truth.nodes) {
        const own = gpusOf.get(name) ?? [];
        const state = !ready ? "not_ready" : !schedulable ? "cordoned" : nodeState(specs.get(name), own, at);
        states.set(name, state);
        for (const physicalGpu of own) parts.push(...partsOf(physicalGpu, unallocatedStates[state], at));
      }
      return { parts, nodes: states };
    },
  };
}

/** What the GPUs that nobody holds are, on a node in this state. */
const unallocatedStates: Readonly<Record<TruthNodeState, TruthState>> = {
  not_ready: "unavailable",
  cordoned: "cordoned",
  idle_unallocated: "idle_node",
  idle_allocated: "free",
  warm_unallocated: "free",
  warm_allocated: "free",
  ready: "free",
};

const keyOf = (physicalGpu: TruthGpu, { namespace, pod }: TruthHolder): string =>
  `${physicalGpu.uuid} ${namespace}/${pod}`;

const classOf = (habit: Habit | undefined): keyof typeof idleAfter =>
  habit !== undefined && servingKinds.has(habit.workload.kind) ? "serving" : "batch";

function since(before: Since, now: readonly { readonly key: string }[], at: number): Since {
  return new Map(now.map(({ key }) => [key, before.get(key) ?? at]));
}

/** GPUs that were busy without a holder in the last half hour. */
function strayGpus(before: Since, physicalGpus: readonly TruthGpu[], at: number): Since {
  const stray = new Map<string, number>();
  for (const { uuid, holders, activity } of physicalGpus) {
    const last = holders.length === 0 && activity > idleThreshold ? at : before.get(uuid);
    if (last !== undefined && at - last <= idleAfter.batch) stray.set(uuid, last);
  }
  return stray;
}
