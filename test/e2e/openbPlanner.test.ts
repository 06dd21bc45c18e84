import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import { disruptionUnits } from "../../exporter/advice/disruptionUnits.ts";
import type { AdviceMoment } from "../../exporter/advice/moment.ts";
import { findPlan } from "../../exporter/advice/planner/findPlan.ts";
import { type MoveField, moveFieldOf } from "../../exporter/advice/planner/moveField.ts";
import type { PlanAnswer, PlanProblem } from "../../exporter/advice/planner/problem.ts";
import { nothingWatched } from "../../exporter/advice/usage/usageWatch.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { traceScenario } from "../../simulator/scenarios/trace.ts";
import { faultsOf } from "../advice/planner/planBuilder.ts";
import { latest, startAt, teamsByNamespaceLabel } from "./accounting.ts";
import { hasOpenb, traces } from "./openbTrace.ts";

const hasTraces = hasOpenb();

/** The pods of the trace are bare, which every guard of an owner would leave alone: here anything may move. */
describe.skipIf(!hasTraces)("plans for what waits in the openb cluster, filled to 75 %", () => {
  let cluster: PlayedCluster;
  let analysis: Analysis;
  let field: MoveField;

  beforeAll(async () => {
    const trace = traceScenario(traces);
    if (!trace.ok) throw new Error(trace.problem.message);
    cluster = await playCluster({ scenario: trace.scenario, seed: 1, startAt, config: teamsByNamespaceLabel("openb") });
    await cluster.step(0);
    await cluster.step(30);
    analysis = latest(cluster);
    const settings = configSchema.parse({ cluster: "openb" }).advice;
    const moment: AdviceMoment = { analysis, settings, usage: nothingWatched };
    const index = analysis.gangFreeCapacities.askedOf(0)?.placed[0]?.domain ?? -1;
    const domain = analysis.gangFreeCapacities.domains[index];
    if (domain === undefined) throw new Error("nobody knows where the waiting pods could go");
    const units = disruptionUnits(moment);
    field = moveFieldOf(analysis.snapshot, domain.nodes, (pool) => domain.pools.has(pool), units);
  });
  afterAll(() => cluster?.stop());

  const problemFor = (gang: number, maxMoves: number): PlanProblem => {
    const placed = analysis.gangFreeCapacities.askedOf(gang)?.placed ?? [];
    const parts = placed.map(({ gpusPerPod, needs, pods }) => ({ kind: field.kindOf(gpusPerPod, needs), pods }));
    return {
      nodes: field.nodes,
      units: field.units,
      fixedNodes: field.fixedNodes,
      goal: { kind: "place", parts },
      quotaGpus: Infinity,
      maxMoves,
      vetoesOf: () => [],
    };
  };

  it.each([5, 8])("each gets the cheapest plan of at most %i moves, or the reason why there is none", (maxMoves) => {
    const { gangs } = analysis.snapshot.queueing;
    expect(gangs).toHaveLength(6);
    expect(field.units.length).toBeGreaterThan(5000);
    for (const [index, gang] of gangs.entries()) {
      const problem = problemFor(index, maxMoves);
      const from = performance.now();
      const answer = findPlan(problem);
      process.stdout.write(
        `${gang.name}: ${gang.gpus} GPUs, ${wordsOf(field, answer)}, ${Math.round(performance.now() - from)} ms\n`,
      );
      expect(faultsOf(problem, answer)).toEqual([]);
      if (answer.plan === null) expect(answer.noPlan?.words).not.toBe("");
      else expect(answer.plan.units.length).toBeGreaterThan(0);
    }
  });
});

function wordsOf({ units, nodes }: MoveField, { plan, noPlan, isExact, looks }: PlanAnswer): string {
  const how = `${isExact ? "cheapest" : "not all looked at"}, ${looks} looks`;
  if (plan === null) return `${noPlan?.code}: ${noPlan?.words} (${how})`;
  const moved = plan.units.map((unit) => units[unit]?.name).join(", ");
  return `move ${moved} to free ${plan.goalNodes.map((node) => nodes[node]?.name).join(", ")}: ${plan.lostGpuHours.toFixed(2)} GPU-hours (${how})`;
}
