import { describe, expect, it } from "vitest";
import { playCluster } from "../../cli/demo/playCluster.ts";
import { playFully } from "../../cli/demo/playFully.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import type { Recommendation } from "../../exporter/model/recommendation.ts";
import { createRandomStream, type RandomStream } from "../../simulator/random.ts";
import type { Habit, Scenario, WorkloadSpec } from "../../simulator/scenario.ts";
import { weekScenario } from "../../simulator/scenarios/advice/week.ts";
import { startAt } from "../e2e/accounting.ts";
import { type ApiObjects, brokenVetoes, isProtected, readObjects, takenBy } from "../e2e/advice/apiVetoes.ts";
import { recommendationsNow } from "../e2e/advice/closedLoop.ts";
import { adviceScenarios } from "../simulator/scenarios/advice/byKind.ts";
import { generatedScenario } from "../simulator/scenarios/generated.ts";

const cycleSeconds = 120;
const cycles = 20;

/** Everything that is worth a little is offered at once, so that much is. */
const config = configSchema.parse({
  cluster: "vetoes",
  interval: cycleSeconds,
  teams: [{ from: "namespace-label", key: "team" }],
  idle: { batchSeconds: 300, servingSeconds: 300 },
  advice: {
    standingCycles: 1,
    coolDownMinutes: 0,
    minGainGpuHours: 0.01,
    gainOverLoss: 1,
    maxMoves: 8,
    usageHours: 0.1,
    idleNodeMinutes: 15,
  },
});

const asking = [
  "karpenter.sh/do-not-disrupt=true",
  "cluster-autoscaler.kubernetes.io/safe-to-evict=false",
  "descheduler.alpha.kubernetes.io/prefer-no-eviction=true",
  "fairlead.dev/do-not-disrupt=true",
] as const;

/** The same cluster, some of whose work must not be touched in one way or another. */
function withVetoes(scenario: Scenario, seed: number): Scenario {
  const random = createRandomStream(seed ^ 0x3a7f11);
  const priorityClasses = { ...scenario.priorityClasses, serving: 10_000 };
  return { ...scenario, priorityClasses, habits: scenario.habits.flatMap((habit) => parted(habit, random)) };
}

/** A habit in three parts: as it was, with a veto, and of high priority. */
function parted(habit: Habit, random: RandomStream): readonly Habit[] {
  const { name, workload, initial } = habit;
  const third = Math.floor(initial / 3);
  return [
    { ...habit, initial: initial - 2 * third },
    { ...habit, name: `${name}-kept`, workload: { ...workload, ...veto(habit, random) }, initial: third },
    { ...habit, name: `${name}-first`, workload: { ...workload, priorityClass: "serving" }, initial: third },
  ];
}

function veto({ workload }: Habit, random: RandomStream): Partial<WorkloadSpec> {
  const [name = "", value = ""] = random.pick(asking).split("=");
  return random.pick<Partial<WorkloadSpec>>([
    { annotations: { ...workload.annotations, [name]: value } },
    { annotations: { ...workload.annotations, [name]: value } },
    { localStorage: true },
    { disruptionBudgets: [workload.pods] },
    { disruptionBudgets: [0, 0] },
    { backoffLimit: 0 },
    { onDisruption: "FailJob" },
  ]);
}

/** What all plays together must have met, so that they mean something. */
const met = { offers: 0, evictions: 0, queues: 0, owners: 0, protected: 0 };

async function expectNothingBroken(scenario: Scenario, seed: number): Promise<void> {
  const cluster = await playCluster({ scenario: withVetoes(scenario, seed), seed, startAt, config });
  const hasKueue = scenario.queueing.kueue !== null;
  try {
    await playFully(cluster, 0);
    for (let cycle = 0; cycle < cycles; cycle++) {
      const now = cluster.simulator.now();
      const fresh = recommendationsNow(cluster).filter(
        ({ state, computedAt }) => state === "open" && computedAt === now,
      );
      if (fresh.length > 0) expectNoneBroken(fresh, await readObjects(cluster.simulator, hasKueue));
      await playFully(cluster, cycleSeconds);
    }
    expect(cluster.stack.cycle.health().cycles.failed).toBe(0);
  } finally {
    await cluster.stop();
  }
}

function expectNoneBroken(offered: readonly Recommendation[], objects: ApiObjects): void {
  for (const advice of offered) {
    expect(brokenVetoes(advice, objects), advice.title).toEqual([]);
    met.offers += 1;
    for (const { by, pods } of advice.steps.map(({ request }) => takenBy(request, objects)))
      met[by === "eviction" ? "evictions" : by === "queue" ? "queues" : "owners"] += pods.length;
  }
  met.protected += objects.pods.filter(isProtected).length;
}

const generatedSeeds = [201, 202, 203, 204, 205, 206, 207, 208, 209, 210];
const adviceSeeds = [221, 222];

describe("nothing that is offered breaks a veto", () => {
  it.each(generatedSeeds)("in generated cluster %i", { timeout: 120_000 }, async (seed) => {
    await expectNothingBroken({ ...generatedScenario(seed, 6), stepSeconds: 30 }, seed);
  });

  describe.each(Object.entries(adviceScenarios))("in the cluster of %s", (_, scenario) => {
    it.each(adviceSeeds)("with seed %i", { timeout: 120_000 }, async (seed) => {
      await expectNothingBroken(scenario(), seed);
    });
  });

  it("in the cluster of the simulated week", { timeout: 120_000 }, async () => {
    await expectNothingBroken(weekScenario(), 231);
  });

  it("and much was offered that takes pods away, beside pods that may not be touched", () => {
    expect(met.offers).toBeGreaterThan(200);
    for (const [what, amount] of Object.entries(met)) expect(amount, what).toBeGreaterThan(20);
  });
});
