import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Remembered } from "../../exporter/accounts/ledger/ledger.ts";
import type { NodeStreak } from "../../exporter/accounts/nodeStreakAccount.ts";
import { createNodeStreakAccount, type NodeStreakAccount } from "../../exporter/accounts/nodeStreakAccount.ts";
import type { IdleNode } from "../../exporter/analysis/idleNodes/findIdleNodes.ts";
import { moment, nodeView } from "../analysis/momentBuilder.ts";

const begin = 1_793_577_600;
const hour = 3600;

const states = ["ready", "cordoned", "not_ready", "idle_unallocated", "idle_allocated", "warm_unallocated"] as const;
type State = (typeof states)[number];

/** A moment with a node for each name; `objects: false`: they were not read. */
function seen(nodes: Readonly<Record<string, State>>, objects = true) {
  const all = Object.entries(nodes);
  const idle = all.flatMap(([, state], node): IdleNode[] => {
    if (!state.startsWith("idle") && !state.startsWith("warm")) return [];
    const kind = state.endsWith("_allocated") ? "allocated" : "unallocated";
    return [{ node, kind, isWarmPool: state.startsWith("warm"), since: begin }];
  });
  const base = moment({
    nodes: all.map(([name, state]) =>
      nodeView({ name, devices: [], ready: state !== "not_ready", schedulable: state !== "cordoned" }),
    ),
  });
  const coverage = { ...base.coverage, objects };
  return { snapshot: { ...base, coverage }, idleNodes: { nodes: idle, since: new Map(), warm: new Set<number>() } };
}

/** What a ledger has of what was taken: rows by node and begin, and what is remembered. */
function createKept() {
  const rows = new Map<string, NodeStreak>();
  const remembered = new Map<string, Remembered>();
  return {
    rows,
    take(account: NodeStreakAccount): number {
      const { nodeStreaks, remembered: changes } = account.takeChanges();
      for (const streak of nodeStreaks) rows.set(`${streak.node} ${streak.begins}`, streak);
      for (const { kind, key, value } of changes) {
        if (value === null) remembered.delete(key);
        else remembered.set(key, { kind, key, value });
      }
      return nodeStreaks.length + changes.length;
    },
    remembered: (): readonly Remembered[] => [...remembered.values()],
  };
}

interface Cycle {
  readonly seconds: number;
  readonly isKnown: boolean;
  readonly isRestart: boolean;
  /** Nodes that are in another state from now on, or gone. */
  readonly changes: readonly { readonly node: string; readonly state: State | null }[];
}

const cycles: fc.Arbitrary<readonly Cycle[]> = fc.array(
  fc.record({
    seconds: fc.constantFrom(30, 600, 1300, 1300, 3600, 3601),
    isKnown: fc.integer({ min: 0, max: 9 }).map((n) => n > 1),
    isRestart: fc.integer({ min: 0, max: 9 }).map((n) => n > 7),
    changes: fc.array(
      fc.record({
        node: fc.constantFrom("a", "b", "__proto__"),
        state: fc.option(fc.constantFrom(...states), { nil: null, freq: 8 }),
      }),
      { maxLength: 1 },
    ),
  }),
  { minLength: 10, maxLength: 40 },
);

interface Run {
  readonly state: State;
  readonly begins: number;
}

/** By the plain reading of the rules: each node's runs of moments in one state. */
function naiveRows(lifecycle: readonly Cycle[]): readonly (readonly [string, string, number, number | null])[] {
  const found: (readonly [string, string, number, number | null])[] = [];
  const runs = new Map<string, Run>();
  const nodes = new Map<string, State>();
  let at = begin;
  let last: number | null = null;
  const close = (node: string, ends: number | null, until: number): void => {
    const run = runs.get(node);
    runs.delete(node);
    if (run === undefined || until - run.begins < hour || run.state === "ready" || run.state.startsWith("warm")) return;
    found.push([node, run.state, run.begins, ends]);
  };
  for (const { seconds, isKnown, changes } of lifecycle) {
    at += seconds;
    for (const { node, state } of changes) {
      if (state === null) nodes.delete(node);
      else nodes.set(node, state);
    }
    if (last !== null && at - last > hour) for (const node of [...runs.keys()]) close(node, last, last);
    if (!isKnown) continue;
    last = at;
    for (const [node, { state }] of [...runs]) if (nodes.get(node) !== state) close(node, at, at);
    for (const [node, state] of nodes) if (!runs.has(node)) runs.set(node, { state, begins: at });
  }
  for (const node of [...runs.keys()]) close(node, null, last ?? at);
  return found.sort();
}

describe("streaks of nodes", () => {
  it("are the runs of moments in one state, over restarts, gaps and moments about which nothing is known", () => {
    let rows = 0;
    let overRestarts = 0;
    fc.assert(
      fc.property(cycles, (lifecycle) => {
        const kept = createKept();
        let account = createNodeStreakAccount();
        let at = begin;
        let last: number | null = null;
        const nodes = new Map<string, State>();
        const restarts: number[] = [];
        for (const { seconds, isKnown, isRestart, changes } of lifecycle) {
          at += seconds;
          for (const { node, state } of changes) {
            if (state === null) nodes.delete(node);
            else nodes.set(node, state);
          }
          if (isRestart) {
            account = createNodeStreakAccount(kept.remembered(), last);
            restarts.push(at);
          }
          account.see(seen(Object.fromEntries(nodes), isKnown), at);
          if (isKnown) last = at;
          kept.take(account);
        }
        const found = [...kept.rows.values()].map(
          ({ node, state, begins, ends }) => [node, state, begins, ends] as const,
        );
        expect(found.sort()).toEqual(naiveRows(lifecycle));
        rows += found.length;
        overRestarts += found.filter(([, , begins, ends]) =>
          restarts.some((restart) => restart > begins && restart < (ends ?? at)),
        ).length;
      }),
      { numRuns: 300, seed: 20_261_121 },
    );
    expect(rows).toBeGreaterThan(300);
    expect(overRestarts).toBeGreaterThan(50);
  });

  it("are reported when an hour has passed and when they end, and not in between", () => {
    const account = createNodeStreakAccount();
    const kept = createKept();
    const reported = Array.from({ length: 200 }, (_, i) => {
      account.see(seen({ a: i < 180 ? "cordoned" : "ready" }), begin + 30 * i);
      return kept.take(account) > 0 ? i : -1;
    }).filter((i) => i >= 0);
    expect(reported).toEqual([0, 120, 180]);
    expect([...kept.rows.values()]).toEqual([
      { node: "a", nodePool: "none", pool: "H100", state: "cordoned", gpus: 1, begins: begin, ends: begin + 5400 },
    ]);
    expect(kept.remembered()).toEqual([]);
  });

  it("shorter than an hour are never reported, however many there are", () => {
    const account = createNodeStreakAccount();
    for (let i = 0; i < 500; i += 1) {
      const names = Array.from({ length: 50 }, (_, n) => `n${n}`);
      account.see(
        seen(Object.fromEntries(names.map((name, n) => [name, (i + n) % 2 === 0 ? "cordoned" : "ready"]))),
        begin + 30 * i,
      );
    }
    const { nodeStreaks, remembered } = account.takeChanges();
    expect(nodeStreaks).toEqual([]);
    expect(remembered).toHaveLength(50);
  });

  it("of more nodes than there is space for at first are all followed", () => {
    const account = createNodeStreakAccount();
    const nodes = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`n${n}`, "not_ready"] as const));
    account.see(seen(nodes), begin);
    account.see(seen({}), begin + hour);
    const { nodeStreaks } = account.takeChanges();
    expect(new Set(nodeStreaks.map(({ node }) => node)).size).toBe(3000);
    expect(nodeStreaks.every(({ begins, ends }) => begins === begin && ends === begin + hour)).toBe(true);
  });

  it("end where they were last seen when the clock was set back before their begin, and go on otherwise", () => {
    const account = createNodeStreakAccount();
    account.see(seen({ a: "cordoned", b: "ready" }), begin);
    account.see(seen({ a: "cordoned", b: "cordoned" }), begin + hour);
    account.see(seen({ a: "cordoned", b: "cordoned" }), begin + 2 * hour);
    account.takeChanges();
    account.see(seen({ a: "cordoned", b: "cordoned" }), begin + 600);
    expect(account.takeChanges().nodeStreaks).toMatchObject([
      { node: "b", begins: begin + hour, ends: begin + 2 * hour },
    ]);
    account.see(seen({ a: "ready", b: "ready" }), begin + 630);
    expect(account.takeChanges().nodeStreaks).toMatchObject([{ node: "a", begins: begin, ends: begin + 630 }]);
  });

  it("are begun anew where what is remembered cannot be read", () => {
    const rows = ["", "[]", "null", '["ready",1,"p","q",1]', '["cordoned","1","p","q",1]', "{"];
    const remembered = rows.map((value, i) => ({ kind: "node-streak", key: `n${i}`, value }));
    const account = createNodeStreakAccount([...remembered, { kind: "idle", key: "n9", value: "1" }], begin);
    account.see(seen({}), begin + 60);
    expect(account.takeChanges()).toEqual({ nodeStreaks: [], remembered: [] });
  });
});
