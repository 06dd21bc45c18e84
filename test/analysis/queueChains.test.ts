import { describe, expect, it } from "vitest";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { SchedulerView } from "../../exporter/analysis/schedulerViews/schedulerView.ts";
import { analysed, snapshotOf } from "../join/outcomes.ts";
import { type ChainShape, chainName, kaiChain, kueueChain, volcanoChain } from "./queueChains.ts";

const lengths = [2500, 20_000] as const;

function queueOf({ snapshot, fairness }: Analysis, name: string) {
  const index = snapshot.queueing.queues.findIndex((queue) => queue.name === name);
  return { allocated: snapshot.queueing.queues[index]?.allocated, entitled: fairness.queues[index]?.entitled };
}

const viewOf = ({ schedulerViews }: Analysis, number: SchedulerView["number"], name: string) =>
  schedulerViews.find((view) => view.number === number && view.name === name)?.computed;

/** Codes and subjects of the problems about queues. */
const queueProblems = ({ snapshot }: Analysis) =>
  snapshot.problems
    .filter(({ code }) => code.includes("queue") || code.includes("cohort"))
    .map(({ code, subject }) => [code, subject]);

const tooDeep = ["queue-tree-deep", chainName(50)];
const four = { allocated: 4, entitled: 4 };

describe.each(lengths)("%i queues one below the other", (length) => {
  const last = chainName(length - 1);
  const analysisOf = (state: typeof kueueChain, shape: ChainShape) => analysed(snapshotOf(state(shape, length)));

  it("are Cohorts of Kueue: all are counted, and so is what they lend each other", () => {
    const analysis = analysisOf(kueueChain, "chain");
    for (const name of ["team", "healthy", chainName(0), last]) expect(queueOf(analysis, name)).toEqual(four);
    // It borrows 2 of the 4 that its tree has.
    expect(viewOf(analysis, "kueue-weighted-share", "team")).toBe(500);
    expect(viewOf(analysis, "kueue-weighted-share", last)).toBe(500);
    expect(viewOf(analysis, "kueue-weighted-share", chainName(0))).toBe(0);
    expect(queueProblems(analysis)).toEqual([tooDeep]);
  });

  it("are Cohorts in a circle: nothing is said about them, and everything about the others", () => {
    const analysis = analysisOf(kueueChain, "circle");
    expect(queueOf(analysis, "healthy")).toEqual(four);
    expect(queueOf(analysis, "team").allocated).toBe(4);
    expect(viewOf(analysis, "kueue-weighted-share", "team")).toBeUndefined();
    expect(viewOf(analysis, "kueue-weighted-share", last)).toBeUndefined();
    expect(viewOf(analysis, "kueue-weighted-share", "healthy")).toBe(0);
    expect(queueProblems(analysis)).toContainEqual(["kueue-cohort-cycle", chainName(0)]);
  });

  it("are queues of KAI: all get their share", () => {
    const analysis = analysisOf(kaiChain, "chain");
    for (const name of ["healthy", chainName(0), last]) {
      expect(queueOf(analysis, name)).toEqual(four);
      expect(viewOf(analysis, "kai-fair-share", name)).toBe(4);
    }
    expect(queueProblems(analysis)).toEqual([tooDeep]);
  });

  it("are queues of KAI in a circle: they get nothing, the others their share", () => {
    const analysis = analysisOf(kaiChain, "circle");
    expect(queueOf(analysis, "healthy")).toEqual(four);
    expect(queueOf(analysis, last)).toEqual({ allocated: 4, entitled: 0 });
    expect(queueProblems(analysis)).toContainEqual(["kai-queue-cycle", chainName(0)]);
  });

  it("are queues of Volcano: all deserve what is written", () => {
    const analysis = analysisOf(volcanoChain, "chain");
    for (const name of ["healthy", chainName(0), last]) {
      expect(queueOf(analysis, name)).toEqual(four);
      expect(viewOf(analysis, "volcano-deserved", name)).toBe(4);
    }
    expect(queueProblems(analysis)).toEqual([tooDeep]);
  });

  it("are queues of Volcano in a circle: the others are as they were", () => {
    const analysis = analysisOf(volcanoChain, "circle");
    expect(queueOf(analysis, "healthy")).toEqual(four);
    expect(queueProblems(analysis)).toContainEqual(["volcano-queue-cycle", chainName(0)]);
  });
});

it("says nothing of trees as people write them", () => {
  for (const state of [kueueChain, kaiChain, volcanoChain])
    expect(queueProblems(analysed(snapshotOf(state("chain", 5))))).toEqual([]);
});
