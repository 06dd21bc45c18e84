import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import { playFully } from "../../cli/demo/playFully.ts";
import { prepareLedger } from "../../cli/ledgerOutput.ts";
import type { LedgerReader } from "../../exporter/accounts/ledger/ledgerReader.ts";
import type { LedgerTable } from "../../exporter/accounts/ledger/ledgerTableQuery.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { gpuNode } from "../../simulator/scenarios/parts.ts";
import type { Truth } from "../../simulator/truth.ts";
import { type PageSample, readPage } from "../publish/readPage.ts";
import { contentionScenario } from "../simulator/scenarios/contention.ts";

const folder = mkdtempSync(path.join(tmpdir(), "fairlead-capacity-books-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const startAt = Date.parse("2026-11-09T00:00:00Z") / 1000;
const cycleSeconds = 300;
const hour = 3600;
const firstCycles = 60;
const silenceSeconds = 1800;
const secondCycles = 36;

const config = configSchema.parse({
  cluster: "capacity",
  interval: cycleSeconds,
  teams: [{ from: "namespace-label", key: "team" }],
  ledger: { path: path.join(folder, "ledger.db") },
});

/** Two teams that contend for four nodes, a node that nobody wants, one of those that is cordoned, and one that is lost for a while. */
const contention = contentionScenario("kueue", false);
const scenario = {
  ...contention,
  nodes: [
    ...contention.nodes,
    gpuNode("unwanted", "A100", 8, { kind: "whole" }),
    gpuNode("set-aside", "A100", 8, { kind: "whole" }, { cordoned: true }),
    gpuNode("flaky", "A100", 4, { kind: "whole" }),
  ],
};
const a100 = "A100-SXM4-80GB";
const h100 = "H100-80GB-HBM3";
const lost = { from: 20, to: 44 };

/** Sums of what was published, each value until the next cycle; and the least and the most. */
interface Published {
  readonly sums: Map<string, number>;
  readonly least: Map<string, number>;
  readonly most: Map<string, number>;
}

const added: Readonly<Record<string, readonly string[]>> = {
  fairlead_domain_capacity_gpus: ["domain"],
  fairlead_queue_allocated_gpus: ["domain"],
  fairlead_queue_pending_gpus: ["domain"],
  fairlead_stranded_gpus: ["pool", "reason"],
  fairlead_blocked_gpus: ["pool"],
  fairlead_pool_free_gpus: ["pool", "part"],
  fairlead_largest_placeable_pod_gpus: ["pool"],
};

function addPage(published: Published, page: readonly PageSample[]): void {
  const extremes = new Map<string, number>();
  for (const { name, labels, value } of page) {
    const by = added[name];
    if (by === undefined) continue;
    const key = [name, ...by.map((label) => labels.get(label))].join(" ");
    published.sums.set(key, (published.sums.get(key) ?? 0) + value * cycleSeconds);
    extremes.set(key, (extremes.get(key) ?? 0) + value);
  }
  for (const [key, value] of extremes) {
    published.least.set(key, Math.min(published.least.get(key) ?? value, value));
    published.most.set(key, Math.max(published.most.get(key) ?? value, value));
  }
}

/** The state of each node in which streaks are reported, by the simulator's own words; idle is only what nobody holds. */
function trueStates(truth: Truth): ReadonlyMap<string, string> {
  const allocated = new Set(truth.physicalGpus.flatMap(({ node, holders }) => (holders.length > 0 ? [node] : [])));
  return new Map(
    truth.nodes.flatMap(({ name, ready, schedulable }) => {
      const state = !ready ? "not_ready" : !schedulable ? "cordoned" : allocated.has(name) ? null : "idle_unallocated";
      return state === null ? [] : [[name, state] as const];
    }),
  );
}

type Streak = readonly [node: string, state: string, begins: number, ends: number | null];

/** Runs of cycles in one state. */
function createTrueStreaks() {
  const open = new Map<string, { readonly state: string; readonly begins: number }>();
  const found: Streak[] = [];
  const close = (node: string, ends: number | null, until: number): void => {
    const streak = open.get(node);
    open.delete(node);
    if (streak !== undefined && until - streak.begins >= hour) found.push([node, streak.state, streak.begins, ends]);
  };
  return {
    look(truth: Truth): void {
      const states = trueStates(truth);
      for (const [node, { state }] of [...open]) if (states.get(node) !== state) close(node, truth.at, truth.at);
      for (const [node, state] of states) if (!open.has(node)) open.set(node, { state, begins: truth.at });
    },
    all(at: number): readonly Streak[] {
      for (const node of [...open.keys()]) close(node, null, at);
      return found.sort();
    },
  };
}

async function live(
  from: number,
  cycles: number,
  published: Published,
  look: (truth: Truth) => void,
  isLost: (cycle: number) => boolean,
): Promise<number> {
  const ledger = await prepareLedger(config);
  if (!ledger.ok || ledger.output === null) throw new Error("a ledger is configured");
  const cluster = await playCluster({ scenario, seed: 11, startAt: from, config, stack: { ledger: ledger.output } });
  let fix: (() => void) | null = null;
  try {
    await playFully(cluster, 0);
    look(cluster.simulator.truth());
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      addPage(published, pageOf(cluster));
      if (isLost(cycle)) fix ??= cluster.simulator.fault({ kind: "node-lost", node: "flaky" });
      else {
        fix?.();
        fix = null;
      }
      await playFully(cluster, cycleSeconds);
      look(cluster.simulator.truth());
    }
    expect(cluster.stack.cycle.health().cycles.failed).toBe(0);
    return cluster.simulator.now();
  } finally {
    await cluster.stop();
    await ledger.output.close();
    expect(ledger.output.problems()).toEqual([]);
  }
}

const pageOf = (cluster: PlayedCluster): readonly PageSample[] =>
  readPage(cluster.stack.latest()?.page.toString("utf8") ?? "");

async function ask(accounts: Pick<LedgerReader, "queryLedgerTable">, of: LedgerTable, groupBy: readonly string[]) {
  const window = { from: startAt, to: startAt + 24 * hour };
  const result = await accounts.queryLedgerTable({ of, ...window, groupBy, where: new Map(), limit: 1000 });
  if (!result.ok) throw new Error(result.error);
  return result.answer.rows;
}

describe("the accounting of capacity of a played cluster", () => {
  it("are the integral of what was published, and the streaks that the simulator knows of, over a restart", {
    timeout: 240_000,
  }, async () => {
    const published: Published = { sums: new Map(), least: new Map(), most: new Map() };
    const streaks = createTrueStreaks();
    const isLost = (cycle: number): boolean => cycle >= lost.from && cycle < lost.to;
    const firstEnd = await live(startAt, firstCycles, published, streaks.look, isLost);
    const end = await live(firstEnd + silenceSeconds, secondCycles, published, streaks.look, () => false);

    const ledger = await prepareLedger(config);
    if (!ledger.ok || ledger.output === null) throw new Error("a ledger is configured");
    const { accounts } = ledger.output;
    const of = (name: string, ...labels: readonly string[]): number =>
      published.sums.get([name, ...labels].join(" ")) ?? 0;
    const coveredSeconds = (firstCycles + secondCycles) * cycleSeconds;

    const domains = await ask(accounts, "domains", ["domain"]);
    expect(domains.map(({ values }) => values[0]).sort()).toEqual([a100, h100]);
    for (const { values, amounts } of domains) {
      const [domain = ""] = values;
      expect(amounts.seconds).toBeCloseTo(coveredSeconds, 3);
      expect(amounts.capacity).toBeCloseTo(of("fairlead_domain_capacity_gpus", `${domain}`), 3);
      expect(amounts.allocated).toBeCloseTo(of("fairlead_queue_allocated_gpus", `${domain}`), 3);
      expect(amounts.pending).toBeCloseTo(of("fairlead_queue_pending_gpus", `${domain}`), 3);
      expect(amounts.guaranteed).toBeCloseTo((domain === h100 ? 32 : 0) * coveredSeconds, 3);
    }
    expect(of("fairlead_queue_pending_gpus", h100)).toBeGreaterThan(0);

    let free = 0;
    for (const { values, amounts } of await ask(accounts, "placement", ["pool"])) {
      const pool = `${values[0]}`;
      const stranded = (...reasons: readonly string[]): number =>
        reasons.reduce((sum, reason) => sum + of("fairlead_stranded_gpus", pool, reason), 0);
      expect(amounts.free).toBeCloseTo(of("fairlead_pool_free_gpus", pool, "whole"), 3);
      expect(amounts.stranded).toBeCloseTo(stranded("gpus", "cpu", "memory", "cpu_and_memory"), 3);
      expect(amounts.strandedConstraint).toBeCloseTo(stranded("constraint"), 3);
      expect(amounts.blocked).toBeCloseTo(of("fairlead_blocked_gpus", pool), 3);
      const largest = "fairlead_largest_placeable_pod_gpus";
      expect((amounts.largestPlaceableMean ?? 0) * coveredSeconds).toBeCloseTo(of(largest, pool), 3);
      expect(amounts.largestPlaceableMin).toBe(published.least.get(`${largest} ${pool}`));
      expect(amounts.largestPlaceableMax).toBe(published.most.get(`${largest} ${pool}`));
      free += amounts.free ?? 0;
    }
    expect(free).toBeGreaterThan(0);

    const rows = await ask(accounts, "nodeStreaks", ["node", "state"]);
    const wanted = Map.groupBy(streaks.all(end), ([node, state]) => `${node} ${state}`);
    expect(rows.map(({ values }) => values.join(" ")).sort()).toEqual([...wanted.keys()].sort());
    for (const { values, amounts } of rows) {
      const known = wanted.get(values.join(" ")) ?? [];
      const seconds = known.map(([, , begins, ends]) => (ends ?? end) - begins);
      expect(amounts.streaks).toBe(known.length);
      expect(amounts.seconds).toBeCloseTo(
        seconds.reduce((sum, one) => sum + one, 0),
        3,
      );
      const [, , begins, ends] = known[seconds.indexOf(Math.max(...seconds))] ?? [];
      expect([amounts.longestBegins, amounts.longestEnds]).toEqual([begins, ends]);
    }
    expect(rows.map(({ values }) => values.join(" "))).toEqual(
      expect.arrayContaining(["unwanted idle_unallocated", "set-aside cordoned", "flaky not_ready"]),
    );
    // The node that nobody wants was idle through the restart.
    expect(wanted.get("unwanted idle_unallocated")).toEqual([["unwanted", "idle_unallocated", startAt, null]]);

    const { domains: pools, models } = await answered(accounts.queryPools({ from: startAt, to: end }));
    expect(pools).toEqual([
      { domain: a100, pool: a100 },
      { domain: h100, pool: h100 },
    ]);
    expect(models.map(({ pool }) => pool)).toEqual([a100, h100]);
    await ledger.output.close();
  });
});

async function answered<Answer>(
  asked: Promise<{ readonly ok: true; readonly answer: Answer } | { readonly ok: false; readonly error: string }>,
): Promise<Answer> {
  const result = await asked;
  if (!result.ok) throw new Error(result.error);
  return result.answer;
}
