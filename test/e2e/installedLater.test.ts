import { expect, it } from "vitest";
import { compareWithTruth } from "../../cli/demo/compareWithTruth.ts";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { unassigned } from "../../exporter/join/teamOf.ts";
import { contentionScenario } from "../simulator/scenarios/contention.ts";
import { expectClosedAccounts, latest, startAt } from "./accounting.ts";
import { expectNothingFell, totalsOnPage } from "./counters.ts";

/** Kinds that come and go are behind for good: they are not waited for beyond so many turns of the event loop. */
const looks = 50;

const config = configSchema.parse({
  cluster: "late",
  teams: [{ from: "namespace-label", key: "team" }],
  queues: { volcano: { plugin: "proportion" } },
  prices: { table: false },
});

function leaves(cluster: PlayedCluster): readonly string[] {
  const { queues } = latest(cluster).snapshot.queueing;
  return queues.filter(({ isLeaf }) => isLeaf).map(({ scheduler, name }) => `${scheduler}/${name}`);
}

it.each(["kueue", "kai", "volcano"] as const)(
  "%s that is installed after the start is found, and forgotten when it is removed",
  async (system) => {
    const scenario = contentionScenario(system, true);
    const cluster = await playCluster({ scenario, seed: 3, startAt, config, notInstalled: [system], hurriedApi: true });
    let totals: ReadonlyMap<string, number> = new Map();
    const step = async (seconds: number): Promise<void> => {
      await cluster.step(seconds, looks);
      expectClosedAccounts(latest(cluster));
      expect(cluster.stack.problems()).toEqual([]);
      const now = totalsOnPage(cluster);
      expectNothingFell(totals, now);
      totals = now;
    };
    try {
      for (const seconds of [0, 30, 30]) await step(seconds);
      expect(leaves(cluster)).not.toContain(`${system}/red`);

      cluster.simulator.install(system, true);
      // What is absent is looked for once a minute.
      for (let i = 0; i < 4; i++) await step(30);
      expect(leaves(cluster)).toEqual(expect.arrayContaining([`${system}/red`, `${system}/blue`]));
      expect(compareWithTruth(latest(cluster), cluster.simulator.truth(), unassigned).differences).toEqual([]);
      expect(latest(cluster).fairness.domains).not.toContain(null);

      cluster.simulator.install(system, false);
      const off = [cluster.simulator.fault({ kind: "api-gone" }), cluster.simulator.fault({ kind: "api-watch-cut" })];
      for (let i = 0; i < 4; i++) await step(30);
      for (const end of off) end();
      expect(leaves(cluster)).not.toContain(`${system}/red`);
      expect(latest(cluster).fairness.domains).not.toContain(null);
    } finally {
      await cluster.stop();
    }
  },
);
