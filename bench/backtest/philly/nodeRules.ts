import type { NodeSeries } from "./nodeSeries.ts";

/** How many nodes a rule keeps on in each step; what is too little in a step comes on in it, and is short until its end. */
export interface NodesOn {
  readonly on: readonly number[];
  /** Nodes that were needed and had to be started, by step: each is short for a step. */
  readonly short: readonly number[];
  /** Nodes that were started, by step. */
  readonly started: readonly number[];
}

/** Every node stays on. */
export const keepAll = ({ total }: NodeSeries): NodesOn => ({
  on: total,
  short: total.map(() => 0),
  started: total.map(() => 0),
});

/** The settings that CES is published with for this trace; counts of nodes and of steps. */
const ces = { buffer: 20, keep: 10, history: 2, future: 30, historyTrend: 0.1, warmUp: 6 } as const;

/**
 * The node-saving rule of Helios (Hu et al., SC'21: CES). When too few nodes are on, what is needed and a buffer are started,
 * and nothing is switched off for a while; when the use falls and is forecast to go on falling, all but what is needed and the
 * buffer is switched off. `forecast` gives the nodes that are expected to be active in a step, seen from an earlier one; the
 * authors train gradient-boosted trees for it. Pure.
 */
export function savingRule({ active, total }: NodeSeries, forecast: (step: number, from: number) => number): NodesOn {
  const on: number[] = [];
  const short: number[] = [];
  const started: number[] = [];
  let stableUntil = 0;
  const meanOf = (from: number, until: number, of: (step: number) => number): number => {
    let sum = 0;
    const end = Math.min(until, active.length);
    for (let step = from; step < end; step++) sum += of(step);
    return sum / Math.max(1, end - from);
  };
  for (const [step, needed] of active.entries()) {
    const all = total[step] ?? 0;
    const before = step < ces.warmUp ? needed + ces.buffer : Math.min(on[step - 1] ?? 0, all);
    const lacks = Math.max(0, needed - before);
    let now = before;
    if (lacks > 0) {
      now = Math.min(all, needed + ces.buffer);
      stableUntil = step + ces.keep;
    }
    const expected = (until: number): number => meanOf(step, until, (one) => forecast(one, step));
    const falls = meanOf(step - ces.history, step, (one) => active[one] ?? 0) - needed >= ces.historyTrend;
    if (step >= ces.warmUp && falls && step >= stableUntil && needed >= expected(step + ces.future)) {
      stableUntil = step;
      if (expected(step + ces.future) >= expected(step + 2 * ces.future)) now = Math.min(now, needed + ces.buffer);
    }
    on.push(now);
    short.push(lacks);
    started.push(step < ces.warmUp ? 0 : Math.max(0, now - before));
  }
  return { on, short, started };
}

/** When a node goes off and comes back in a time of idleness. */
export interface RankRule {
  /** After how many steps of idleness it goes off, given for how many it will be idle; `null`: it stays on. */
  readonly goesAfter: (idleSteps: number) => number | null;
  /** How many steps before it is needed it is on again; 0: only then, so that it is short for that step. */
  readonly comesBefore: number;
}

/**
 * Nodes in an order, of which the first ones work: the n-th is idle while fewer than n are active. Each goes off and comes back
 * by the rule. Pure.
 */
export function rankRule({ active, total }: NodeSeries, rule: RankRule): NodesOn {
  const on = active.map((needed, step) => Math.min(needed, total[step] ?? 0));
  const short = active.map(() => 0);
  const started = active.map(() => 0);
  for (let rank = 1; rank <= Math.max(0, ...total); rank++) {
    for (const idle of idleTimes(active, rank)) {
      const { offFrom, offUntil } = offTime(idle, active.length, rule);
      for (let step = idle.from; step < idle.until; step++)
        if ((step < offFrom || step >= offUntil) && (total[step] ?? 0) >= rank) add(on, step);
      if (idle.until === active.length || offUntil === offFrom) continue;
      add(started, offUntil);
      if (rule.comesBefore === 0) add(short, idle.until);
    }
  }
  return { on, short, started };
}

function add(to: number[], step: number): void {
  to[step] = (to[step] ?? 0) + 1;
}

/** A time of idleness: the steps from the first, until the first one after them. */
interface IdleTime {
  readonly from: number;
  until: number;
}

/** The steps of a time of idleness in which the node is off; nobody starts it again if the series ends first. */
function offTime({ from, until }: IdleTime, end: number, { goesAfter, comesBefore }: RankRule) {
  const offFrom = from + Math.min(until - from, goesAfter(until - from) ?? until - from);
  return { offFrom, offUntil: until === end ? until : Math.max(offFrom, until - comesBefore) };
}

/** The times in which fewer than `rank` nodes are active. */
function idleTimes(active: readonly number[], rank: number): readonly IdleTime[] {
  const found: IdleTime[] = [];
  for (const [step, needed] of active.entries()) {
    if (needed >= rank) continue;
    const last = found.at(-1);
    if (last?.until === step) last.until = step + 1;
    else found.push({ from: step, until: step + 1 });
  }
  return found;
}
