import { describe, expect, it } from "vitest";
import { compareWithTruth } from "../../cli/demo/compareWithTruth.ts";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { unassigned } from "../../exporter/join/teamOf.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { contentionScenario } from "../simulator/scenarios/contention.ts";
import { latest, startAt } from "./accounting.ts";
import { totalsOnPage } from "./counters.ts";

const cycleSeconds = 30;

function config(cluster: string, plugin: "auto" | "proportion" = "auto") {
  return configSchema.parse({
    cluster,
    teams: [{ from: "namespace-label", key: "team" }],
    queues: { volcano: { plugin } },
    // Nothing here is about advice, and for the demo it costs more than all the rest of a cycle.
    advice: { enabled: false },
  });
}

async function play(scenario: ReturnType<typeof demoScenario>, hours: number): Promise<PlayedCluster> {
  const cluster = await playCluster({ scenario, seed: 1, startAt, config: config(scenario.name, "proportion") });
  await cluster.step(0);
  for (let cycle = 0; cycle < (hours * 3600) / cycleSeconds; cycle++) await cluster.step(cycleSeconds);
  return cluster;
}

/** The leaf of that name and what was judged of it. */
function leafOf(cluster: PlayedCluster, name: string) {
  const { snapshot, fairness } = latest(cluster);
  const index = snapshot.queueing.queues.findIndex((queue) => queue.isLeaf && queue.name === name);
  const [view, judged] = [snapshot.queueing.queues[index], fairness.queues[index]];
  if (view === undefined || judged === null || judged === undefined) throw new Error(`nothing known of queue ${name}`);
  return { index, view, judged, domain: fairness.domains[view.domain] };
}

function total(cluster: PlayedCluster, metric: string, wanted: Readonly<Record<string, string>>): number {
  let sum = 0;
  for (const [key, value] of totalsOnPage(cluster)) {
    if (!key.startsWith(`${metric} `)) continue;
    const labels: unknown = JSON.parse(key.slice(metric.length + 1));
    const of = new Map(Array.isArray(labels) ? labels.map((entry: readonly [string, string]) => entry) : []);
    if (Object.entries(wanted).every(([name, text]) => of.get(name) === text)) sum += value;
  }
  return sum;
}

describe("half an hour of the demo", () => {
  it("search is 16 GPUs short, and it is ads that has them", async () => {
    const cluster = await play({ ...demoScenario(), faults: [] }, 0.5);
    try {
      const search = leafOf(cluster, "search");
      const ads = leafOf(cluster, "ads");
      expect(search.view).toMatchObject({
        scheduler: "kueue",
        kind: "ClusterQueue",
        team: "search",
        allocated: 16,
        guaranteed: 32,
      });
      expect(search.judged).toMatchObject({
        entitled: 32,
        shortfall: 16,
        shortfallByBorrowers: 16,
        // Kueue would take nothing back, whoever waits: nothing starts until that is changed.
        actionableShortfall: 0,
        heldBackBy: "spec.preemption.reclaimWithinCohort of ClusterQueue search is Never",
      });
      expect(ads.judged).toMatchObject({ entitled: 32, excess: 16 });
      expect(search.domain?.pairs).toEqual([]);
      expect(search.domain?.heldBack).toMatchObject([{ starved: search.index, borrower: ads.index, gpus: 16 }]);

      // Some A100 are cut up or shared, and vision's flavor means the others.
      expect(leafOf(cluster, "vision").view.guaranteed).toBe(32);
      expect(latest(cluster).shortSince.size).toBe(1);

      const shortfall = total(cluster, "fairlead_queue_shortfall_gpu_seconds_total", {
        queue: "search",
        cause: "by_others",
      });
      expect(shortfall).toBeCloseTo(16 * 1800, 3);
      expect(total(cluster, "fairlead_queue_excess_gpu_seconds_total", { queue: "ads" })).toBeCloseTo(16 * 1800, 3);

      const { differences } = compareWithTruth(latest(cluster), cluster.simulator.truth(), unassigned);
      expect(differences).toEqual([]);
      expect(latest(cluster).findings.map(({ code, name }) => [code, name])).toContainEqual([
        "kueue-no-reclaim",
        "search",
      ]);
    } finally {
      await cluster.stop();
    }
  });
});

describe.each(["kueue", "kai", "volcano"] as const)("contention in %s", (system) => {
  it("that takes back what was borrowed leaves nobody short", {
    timeout: 120_000,
  }, async () => {
    const cluster = await play(contentionScenario(system, true), 0.5);
    try {
      const { differences } = compareWithTruth(latest(cluster), cluster.simulator.truth(), unassigned);
      expect(differences).toEqual([]);
      for (const name of ["red", "blue"]) {
        expect(leafOf(cluster, name).view).toMatchObject({ scheduler: system, allocated: 16, team: name });
        expect(leafOf(cluster, name).judged.deviation).toBeCloseTo(0, 6);
      }
    } finally {
      await cluster.stop();
    }
  });
});

describe.each(["kueue", "volcano"] as const)("contention in %s without reclaim", (system) => {
  it("says that red has what blue is owed, and which setting keeps it there", async () => {
    const cluster = await play(contentionScenario(system, false), 0.5);
    try {
      const [red, blue] = [leafOf(cluster, "red"), leafOf(cluster, "blue")];
      expect(blue.view.allocated).toBe(0);
      expect(blue.judged.entitled).toBeCloseTo(16, 6);
      expect(blue.judged.shortfallByBorrowers).toBeCloseTo(16, 6);
      expect(red.judged.excess).toBeCloseTo(16, 6);
      expect(blue.domain?.pairs).toEqual([]);
      expect(blue.domain?.heldBack).toMatchObject([
        { starved: blue.index, borrower: red.index, gpus: expect.closeTo(16, 6) },
      ]);
      const setting = {
        kueue: "reclaimWithinCohort of ClusterQueue blue is Never",
        volcano: "reclaimable of Queue red is false",
      };
      expect(blue.judged.heldBackBy).toContain(setting[system]);
    } finally {
      await cluster.stop();
    }
  });
});
