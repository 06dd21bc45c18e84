import { describe, expect, it } from "vitest";
import { findFixScheduler } from "../../../exporter/advice/kinds/fixScheduler.ts";
import { createLookBudget } from "../../../exporter/advice/kinds/lookBudget.ts";
import { findReclaim } from "../../../exporter/advice/kinds/reclaim.ts";
import { createTrial, type Trial } from "../../../exporter/advice/whatIf/trial.ts";
import { foundBy, type KueueCase, kueueMoment } from "./kueueCluster.ts";

const never = { reclaimWithinCohort: "Never", withinClusterQueue: "Never", borrowWithinCohort: "Never" };
const names = Array.from({ length: 12 }, (_, i) => `q${String(i).padStart(2, "0")}`);

/** Ads holds all nodes; twelve queues that are sure of a node each wait for it, and what they take back is up to their policy. */
const crowdedBy = (preemption: typeof never): KueueCase => ({
  nodes: Object.fromEntries(names.map((name) => [`node-${name}`, 8])),
  queues: [{ name: "ads", nominal: 0 }, ...names.map((name) => ({ name, nominal: 8, parts: { preemption } }))],
  running: names.map((name) => ({
    ...{ name: `job-${name}`, queue: "ads", nodes: [`node-${name}`], gpusPerPod: 8, hours: 1 },
  })),
  waiting: names.map((name) => ({ name: `wait-${name}`, queue: name, pods: 1, gpusPerPod: 8 })),
});
const crowded = crowdedBy(never);

describe("findings for which much waits", () => {
  it("are simulated five a cycle; of the others it is said that they were not", () => {
    const { candidates, withheld } = foundBy(findFixScheduler, kueueMoment(crowded));
    expect(candidates).toHaveLength(5);
    expect(withheld).toHaveLength(7);
    for (const { why, reason } of withheld) {
      expect(why).toBe("no-plan");
      expect(reason).toContain("only the 5 findings for which the most work waits are simulated");
    }
  });
});

describe("a search for victims", () => {
  it("rests after every few simulations", () => {
    const moment = kueueMoment(crowdedBy({ ...never, reclaimWithinCohort: "Any" }));
    const trial = createTrial(moment);
    let simulations = 0;
    const counted: Trial = {
      ...trial,
      started(plan, rule) {
        simulations += 1;
        return trial.started(plan, rule);
      },
      outcome(plan, rule) {
        simulations += 1;
        return trial.outcome(plan, rule);
      },
    };
    const steps = findReclaim(moment, counted);
    const perStep: number[] = [];
    for (let step = steps.next(); step.done !== true; step = steps.next()) {
      perStep.push(simulations);
      simulations = 0;
    }
    expect(perStep.filter((count) => count > 0).length).toBeGreaterThanOrEqual(10);
    expect(Math.max(...perStep)).toBeLessThanOrEqual(10);
  });
});

describe("how far plans of one cycle look", () => {
  it("halves from question to question, and is never nothing", () => {
    const looks = createLookBudget();
    const first = looks.limits().looks;
    looks.spend(first);
    expect(looks.limits().looks).toBe(Math.floor(first / 2));
    for (let i = 0; i < 20; i += 1) looks.spend(looks.limits().looks);
    expect(looks.limits().looks).toBe(looks.leastLimits.looks);
  });

  it("is as far as before after a question that found its answer at once", () => {
    const looks = createLookBudget();
    const first = looks.limits().looks;
    looks.spend(0);
    expect(looks.limits().looks).toBe(first);
  });
});
