import { describe, expect, it } from "vitest";
import { playCluster } from "../../cli/demo/playCluster.ts";
import type { DialectName, Scenario } from "../../simulator/scenario.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { exporterOf } from "../../simulator/scenarios/parts.ts";
import { generatedScenario } from "../simulator/scenarios/generated.ts";
import { startAt, teamsByNamespaceLabel } from "./accounting.ts";
import { expectNothingFell, gpuSecondsBy, totalsOnPage } from "./counters.ts";
import { playAndIntegrate } from "./integrateTruth.ts";

const cycleSeconds = 30;
const dialects = ["2.4", "3.3", "old-namespace", "4.5", "4.8.3"] as const satisfies readonly DialectName[];

/** Seven nodes of the demo, whole GPUs and MIG, all with exporters of one generation. */
function demoOf(dialect: DialectName): Scenario {
  const demo = demoScenario();
  const names = new Set(["h100-01", "h100-02", "a100-01", "a100-02", "a100-04", "a100-05", "l4-01"]);
  const nodes = demo.nodes.filter((node) => names.has(node.name));
  return {
    ...demo,
    name: `demo on ${dialect}`,
    nodes: nodes.map((node) => ({ ...node, exporter: exporterOf(dialect) })),
    faults: [],
  };
}

/** Where a node's labels do not say how its GPUs are cut, its GPUs cannot be counted: here all of them say it. */
function labelled(seed: number, size = 4): Scenario {
  const scenario = generatedScenario(seed, size);
  return { ...scenario, nodes: scenario.nodes.map((node) => ({ ...node, featureDiscovery: true })) };
}

/** Two hours before the first midnight, so that a day ends in the longest play. */
const evening = Date.parse("2026-11-16T22:00:00Z") / 1000;

const played: readonly { readonly scenario: Scenario; readonly from: number; readonly hours: number }[] = [
  { scenario: { ...demoScenario(), faults: [] }, from: startAt, hours: 1 },
  { scenario: { ...labelled(5, 3), name: "a night" }, from: evening, hours: 3 },
  ...dialects.map((dialect) => ({ scenario: demoOf(dialect), from: startAt, hours: 0.5 })),
  ...[11, 12, 13, 14].map((seed) => ({ scenario: labelled(seed), from: startAt, hours: 0.75 })),
];

/** Found and real GPU-seconds of one team in one of the clusters. */
interface TeamResult {
  readonly found: { readonly allocated: number; readonly active: number };
  readonly real: { readonly allocated: number; readonly active: number };
  /** What is not counted as active, but may have been a little. */
  readonly hidden: number;
}

const results: TeamResult[] = [];

describe("GPU time against the truth", () => {
  it.each(played)("of $scenario.name over $hours h", async ({ scenario, from, hours }) => {
    const all = teamsByNamespaceLabel("timed");
    // The accounting does not depend on advice.
    const config = { ...all, advice: { ...all.advice, enabled: false } };
    const cluster = await playCluster({ scenario, seed: 3, startAt: from, config });
    try {
      await cluster.step(10);
      let before = totalsOnPage(cluster);
      const truth = await playAndIntegrate(cluster, (hours * 3600) / cycleSeconds, cycleSeconds, (cycle) => {
        if (cycle % 5 > 0) return;
        const after = totalsOnPage(cluster);
        expectNothingFell(before, after);
        before = after;
      });
      expect(cluster.stack.cycle.health().cycles.failed).toBe(0);
      expect(cluster.stack.problems().map((p) => p.code)).not.toContain("accounts-do-not-close");

      const all = [...gpuSecondsBy(cluster, () => "all").values()][0] ?? 0;
      expect(Math.abs(all - truth.physicalGpuSeconds)).toBeLessThan(1e-9 * truth.physicalGpuSeconds);

      const byTeam = gpuSecondsBy(cluster, (labels) => labels.get("team") ?? "");
      const byState = gpuSecondsBy(cluster, (labels) => `${labels.get("team")} ${labels.get("state")}`);
      expect([...byTeam.keys()].filter((team) => team !== "").sort()).toEqual([...truth.teams.keys()].sort());
      for (const [team, real] of truth.teams) {
        const allocated = byTeam.get(team) ?? 0;
        const oneStep = cycleSeconds * real.changedGpus;
        expect(Math.abs(allocated - real.allocated), `${team} held`).toBeLessThanOrEqual(
          oneStep + 1e-6 * real.allocated,
        );

        const of = (state: string): number => byState.get(`${team} ${state}`) ?? 0;
        const active = of("active");
        const hidden = 0.05 * of("idle") + of("gang_wait") + of("unobserved") + of("starting") + of("unavailable");
        // Each look at a GPU counts for thirty seconds.
        const sampled = 0.01 * real.allocated;
        expect(active - real.active, `${team} active, too much`).toBeLessThanOrEqual(oneStep + sampled);
        expect(real.active - active, `${team} active, too little`).toBeLessThanOrEqual(oneStep + sampled + hidden);
        results.push({ found: { allocated, active }, real, hidden });
        report(scenario.name, team, { allocated, active }, real);
      }
    } finally {
      await cluster.stop();
    }
  });

  it("has no bias: late starts and late ends cancel out", () => {
    const total = (of: (result: TeamResult) => number, among = results): number =>
      among.reduce((sum, result) => sum + of(result), 0);
    const allocated =
      (total((r) => r.found.allocated) - total((r) => r.real.allocated)) / total((r) => r.real.allocated);
    const seen = results.filter((r) => r.hidden < 0.02 * r.real.allocated);
    const active =
      (total((r) => r.found.active, seen) - total((r) => r.real.active, seen)) / total((r) => r.real.allocated, seen);
    if (process.env.FAIRLEAD_REPORT !== undefined)
      process.stdout.write(
        `${results.length} teams held ${signed(allocated)}; ${seen.length} teams active ${signed(active)}\n`,
      );
    expect(seen.length).toBeGreaterThan(10);
    expect(Math.abs(allocated)).toBeLessThan(0.0005);
    expect(Math.abs(active)).toBeLessThan(0.002);
  });
});

const signed = (ratio: number): string => `${(100 * ratio).toFixed(3)} %`;

/** The numbers themselves, for people: FAIRLEAD_REPORT=1. */
function report(
  scenario: string,
  team: string,
  found: { readonly allocated: number; readonly active: number },
  real: { readonly allocated: number; readonly active: number; readonly changedGpus: number },
): void {
  if (process.env.FAIRLEAD_REPORT === undefined) return;
  const hours = (seconds: number): string => (seconds / 3600).toFixed(3);
  process.stdout.write(
    `${scenario}, ${team}: held ${hours(found.allocated)} of ${hours(real.allocated)} GPU-hours (${signed(found.allocated / real.allocated - 1)}), active ${hours(found.active)} of ${hours(real.active)} (${signed((found.active - real.active) / real.allocated)} of held), ${real.changedGpus.toFixed(2)} GPUs changed\n`,
  );
}
