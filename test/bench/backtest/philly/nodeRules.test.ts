import { describe, expect, it } from "vitest";
import { productionEngine } from "../../../../bench/backtest/engine.ts";
import { followScaleIn } from "../../../../bench/backtest/philly/followScaleIn.ts";
import { keepAll, rankRule, savingRule } from "../../../../bench/backtest/philly/nodeRules.ts";

/** Five nodes, of which three work, then one for two hours, then three again. */
const series = {
  active: [...Array<number>(6).fill(3), ...Array<number>(12).fill(1), ...Array<number>(6).fill(3)],
  total: Array<number>(24).fill(5),
};
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

describe("rules for nodes", () => {
  it("save nothing where every node stays on", () => {
    expect(sum(keepAll(series).on)).toBe(5 * 24);
  });

  it("switch a node off after its time of idleness, and are short when it is needed again", () => {
    const { on, short, started } = rankRule(series, { goesAfter: () => 1, comesBefore: 0 });
    // Nodes 4 and 5 are on for one step; nodes 2 and 3 for one step of their two hours.
    expect(sum(on)).toBe(24 + 2 * (24 - 11) + 2 * 1);
    expect([sum(short), sum(started), short[18]]).toEqual([2, 2, 2]);
  });

  it("start a node in time if they know the future", () => {
    const { on, short, started } = rankRule(series, { goesAfter: (idle) => (idle >= 6 ? 0 : null), comesBefore: 1 });
    expect(sum(on)).toBe(sum(series.active) + 2);
    expect([sum(short), started[17]]).toEqual([0, 2]);
  });

  it("leave nodes on that are idle for less than an hour, if that is the rule", () => {
    const brief = { active: [2, 1, 1, 2], total: [2, 2, 2, 2] };
    const { on, short } = rankRule(brief, { goesAfter: (idle) => (idle >= 6 ? 0 : null), comesBefore: 1 });
    expect([on, short]).toEqual([
      [2, 2, 2, 2],
      [0, 0, 0, 0],
    ]);
  });

  it("keep a buffer and wait for a forecast that falls (CES)", () => {
    const falls = {
      active: [...Array<number>(12).fill(30), ...Array<number>(60).fill(10)],
      total: Array<number>(72).fill(60),
    };
    const { on, short } = savingRule(falls, (step) => falls.active[step] ?? 0);
    expect([on[11], on[12], on[13], sum(short)]).toEqual([50, 30, 30, 0]);
    const rises = savingRule(falls, () => 40);
    expect(Math.min(...rises.on)).toBe(50);
  });

  it("start what lacks and the buffer (CES)", () => {
    const jumps = {
      active: [...Array<number>(12).fill(10), ...Array<number>(12).fill(45)],
      total: Array<number>(24).fill(60),
    };
    const { on, short, started } = savingRule(jumps, (step) => jumps.active[step] ?? 0);
    expect([on[11], on[12], short[12], started[12]]).toEqual([30, 60, 15, 30]);
  });
});

describe("nodes that the engine advises to take away", () => {
  const play = (obedience: number) =>
    followScaleIn(series, productionEngine(["scale_in"]), { obedience, seed: 1, delaySteps: 1 });

  it("go only once they have been idle for an hour, and come back when they are needed", () => {
    const { on, short, started } = play(1);
    // The first look is after an hour, in which nodes 4 and 5 were idle.
    expect(on.slice(0, 6)).toEqual(Array<number>(6).fill(5));
    expect(on[6]).toBe(3);
    expect(on[18]).toBe(3);
    expect([sum(short), sum(started)]).toEqual([started[18], started[18]]);
  });

  it("stay if nobody follows", () => {
    expect(play(0)).toEqual(keepAll(series));
  });
});
