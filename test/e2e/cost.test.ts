import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import { type Config, configSchema } from "../../exporter/config/schema.ts";
import { unassigned } from "../../exporter/join/teamOf.ts";
import { charged } from "../../exporter/model/charge.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import type { Truth } from "../../simulator/truth.ts";
import { readPage } from "../publish/readPage.ts";
import { startAt } from "./accounting.ts";

const cycleSeconds = 30;
const fineSeconds = 10;
const hours = 1;

/** What a GPU-hour costs on nodes whose name begins so; MIG, DRA and spot nodes are among them. L4 nodes have no price. */
const prices = [
  { begin: "h100-0", perGpuHour: 5.16, currency: "USD" },
  { begin: "h100-", perGpuHour: 4.44, currency: "EUR" },
  { begin: "a100-01", perGpuHour: 1.9, currency: "USD" },
  { begin: "a100-08", perGpuHour: 1.1, currency: "USD", capacityType: "spot" },
  { begin: "a100-", perGpuHour: 2.75, currency: "USD" },
] as const;

const priceOf = (node: string) => prices.find(({ begin }) => node.startsWith(begin)) ?? null;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function configuration(): Config {
  const folder = mkdtempSync(path.join(tmpdir(), "fairlead-prices-"));
  folders.push(folder);
  const file = path.join(folder, "prices.yaml");
  const entries = prices.map(({ begin, ...price }) => ({
    labels: { "kubernetes.io/hostname": `${begin}*` },
    ...price,
  }));
  writeFileSync(file, JSON.stringify({ currency: "USD", date: "2026-11-02", origin: "test", prices: entries }));
  return configSchema.parse({
    cluster: "priced",
    teams: [{ from: "namespace-label", key: "team" }],
    prices: { file, table: false },
    // Cost does not rest on advice, which takes most of a cycle of the demo.
    advice: { enabled: false },
  });
}

/** What the simulator's own words make of the prices, by nothing of the code under test. */
interface TrueCost {
  /** By currency. */
  readonly nodes: Map<string, number>;
  unpricedGpuSeconds: number;
  /** By team and currency. */
  readonly teams: Map<string, number>;
  /** Cost of one cycle of everything that a team took or gave back: each may be counted one step late. */
  readonly late: Map<string, number>;
}

const plus = (sums: Map<string, number>, key: string, amount: number): void =>
  void sums.set(key, (sums.get(key) ?? 0) + amount);

/** Cost per hour of every holding, by GPU and pod. */
function holdingsOf(truth: Truth): Map<string, { readonly key: string; readonly perHour: number }> {
  const found = new Map<string, { readonly key: string; readonly perHour: number }>();
  for (const { node, uuid, holders } of truth.physicalGpus) {
    const price = priceOf(node);
    if (price === null) continue;
    for (const { namespace, pod, team, share } of holders) {
      const id = JSON.stringify([uuid, namespace, pod]);
      const perHour = (found.get(id)?.perHour ?? 0) + share * price.perGpuHour;
      found.set(id, { key: `${team ?? unassigned} ${price.currency}`, perHour });
    }
  }
  return found;
}

async function playAndPrice(
  cluster: PlayedCluster,
  cycles: number,
  before: (cycle: number) => void,
): Promise<TrueCost> {
  const cost: TrueCost = { nodes: new Map(), unpricedGpuSeconds: 0, teams: new Map(), late: new Map() };
  let last = holdingsOf(cluster.simulator.truth());
  const look = (): void => {
    const truth = cluster.simulator.truth();
    for (const { name, physicalGpus } of truth.nodes) {
      const price = priceOf(name);
      if (price === null) cost.unpricedGpuSeconds += physicalGpus * fineSeconds;
      else plus(cost.nodes, price.currency, (physicalGpus * price.perGpuHour * fineSeconds) / 3600);
    }
    const now = holdingsOf(truth);
    for (const { key, perHour } of now.values()) plus(cost.teams, key, (perHour * fineSeconds) / 3600);
    for (const [a, b] of [
      [now, last],
      [last, now],
    ] as const) {
      for (const [id, { key, perHour }] of a) if (!b.has(id)) plus(cost.late, key, (perHour * cycleSeconds) / 3600);
    }
    last = now;
  };
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    before(cycle);
    for (let at = fineSeconds; at < cycleSeconds; at += fineSeconds) {
      look();
      cluster.simulator.advance(fineSeconds);
    }
    look();
    await cluster.step(fineSeconds);
  }
  return cost;
}

/** The series of one metric on the page, added up. */
function sumsOnPage(
  cluster: PlayedCluster,
  metric: string,
  keyOf: (labels: ReadonlyMap<string, string>) => string,
): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { name, labels, value } of readPage(cluster.stack.latest()?.page.toString("utf8") ?? ""))
    if (name === metric) plus(sums, keyOf(labels), value);
  return sums;
}

describe("cost against the truth", () => {
  it("of the demo: states x price is node price x time, and each team pays for what it held", {
    timeout: 300_000,
  }, async () => {
    const scenario = { ...demoScenario(), faults: [] };
    const cluster = await playCluster({ scenario, seed: 3, startAt, config: configuration() });
    try {
      await cluster.step(10);
      const truth = await playAndPrice(cluster, (hours * 3600) / cycleSeconds, (cycle) => {
        // A GPU falls off the bus: its node costs what it did.
        if (cycle === 40) cluster.simulator.fault({ kind: "gpu-lost", node: "a100-02", physicalGpu: 1 });
      });
      const codes = cluster.stack.problems().map((problem) => problem.code);
      expect(codes).not.toContain("costs-do-not-close");
      expect(codes).not.toContain("accounts-do-not-close");

      const all = sumsOnPage(cluster, "fairlead_cost_total", (labels) => labels.get("currency") ?? "");
      expect([...all.keys()].sort()).toEqual(["EUR", "USD"]);
      for (const [currency, cost] of truth.nodes) {
        expect(Math.abs((all.get(currency) ?? 0) - cost)).toBeLessThan(1e-9 * cost);
        expect((all.get(currency) ?? 0).toFixed(2)).toBe(cost.toFixed(2));
      }
      const unpriced = [...sumsOnPage(cluster, "fairlead_unpriced_gpu_seconds_total", () => "").values()][0] ?? 0;
      expect(Math.abs(unpriced - truth.unpricedGpuSeconds)).toBeLessThan(1e-9 * truth.unpricedGpuSeconds);
      expect(truth.unpricedGpuSeconds).toBeGreaterThan(0);

      const byTeam = sumsOnPage(
        cluster,
        "fairlead_cost_total",
        (labels) => `${labels.get("team")} ${labels.get("currency")}`,
      );
      const allocated = new Map([...byTeam].filter(([key]) => !key.startsWith(" ")));
      expect(
        [...allocated]
          .filter(([, cost]) => cost > 0)
          .map(([key]) => key)
          .sort(),
      ).toEqual([...truth.teams.keys()].sort());
      for (const [key, cost] of truth.teams) {
        const difference = Math.abs((allocated.get(key) ?? 0) - cost);
        expect(difference, `${key}: ${allocated.get(key)} of ${cost}`).toBeLessThanOrEqual(
          (truth.late.get(key) ?? 0) + 1e-6 * cost,
        );
        const states = sumsOnPage(cluster, "fairlead_cost_total", (labels) =>
          `${labels.get("team")} ${labels.get("currency")}` === key ? (labels.get("state") ?? "") : "others",
        );
        states.delete("others");
        const { charged: pays, platform } = charged(states, "allocation", []);
        expect(pays).toBeCloseTo(allocated.get(key) ?? 0, 9);
        expect(platform).toBe(0);
      }
      const namespaces = sumsOnPage(
        cluster,
        "fairlead_namespace_cost_total",
        (labels) => `${labels.get("team")} ${labels.get("currency")}`,
      );
      for (const [key, cost] of allocated) expect(namespaces.get(key) ?? 0, key).toBeCloseTo(cost, 6);
    } finally {
      await cluster.stop();
    }
  });
});
