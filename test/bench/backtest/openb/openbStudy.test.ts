import { describe, expect, it } from "vitest";
import { productionEngine } from "../../../../bench/backtest/engine.ts";
import { caseStudyOf } from "../../../../bench/backtest/openb/caseStudy.ts";
import { fill } from "../../../../bench/backtest/openb/fill.ts";
import { followAdvice } from "../../../../bench/backtest/openb/followAdvice.ts";
import { liveCluster } from "../../../../bench/backtest/openb/liveCluster.ts";
import { openbStudy } from "../../../../bench/backtest/openb/openbStudy.ts";
import { type OpenbTrace, readOpenb } from "../../../../bench/backtest/openb/openbTrace.ts";
import { type Task, unallocatedGpus } from "../../../../bench/backtest/openb/packing.ts";
import type { Policy } from "../../../../bench/backtest/openb/policies.ts";
import { hasOpenb, traces } from "../../../e2e/openbTrace.ts";
import { smallTraceFolder } from "./smallTrace.ts";

const trace = readOpenb(smallTraceFolder());

describe("the small trace", () => {
  it("has the counts that are written in it", () => {
    expect(caseStudyOf(trace)).toEqual({
      jobs: 19,
      withGpu: 18,
      runningWithGpu: 14,
      pendingWithGpu: 4,
      allocatedMilli: 5000 + 32_000 + 500,
      capacityMilli: 48_000,
    });
  });

  const options = {
    seeds: 3,
    demand: 1.3,
    rounds: 2,
    anySeeds: 1,
    everyNode: 1,
    moves: 4,
    engine: () => productionEngine(["defragment"]),
    progress: () => {},
  };

  it("gives the same result twice, and never allocates more than there is", () => {
    const result = openbStudy(trace, options);
    expect(openbStudy(trace, options)).toEqual(result);
    for (const { allocatedGpus, moves, approach } of result.rows) {
      expect(allocatedGpus.mean).toBeLessThanOrEqual(48);
      if (approach === "nothing") expect(moves).toBe(0);
    }
  });

  it("is advised by the engine that it is given: without advice nothing moves", () => {
    const mute = openbStudy(trace, { ...options, engine: () => ({ advise: () => [], dismiss: () => {} }) });
    const moves = (result: ReturnType<typeof openbStudy>): number =>
      result.rows.filter(({ approach }) => approach.startsWith("advice")).reduce((sum, row) => sum + row.moves, 0);
    expect(moves(mute)).toBe(0);
    expect(moves(openbStudy(trace, options))).toBeGreaterThan(0);
  });
});

/** Two nodes with one small task each, and one task that waits for a whole node. */
describe("a task of two GPUs that waits while two GPUs are free on two nodes", () => {
  const task = (id: number, gpus: number, qos = "LS"): Task => ({
    id,
    shape: gpus,
    name: `t${id}`,
    cpuMilli: 1000,
    memoryMiB: 1024,
    gpus,
    gpuMilli: 1000,
    qos,
    phase: "Running",
    ranSeconds: 7200,
    ageSeconds: 360_000,
  });
  const nodes: OpenbTrace["nodes"] = ["a", "b"].map((name) => ({
    name,
    cpuMilli: 32_000,
    memoryMiB: 65_536,
    gpus: 2,
    model: "T4",
  }));
  /** Puts tasks on the emptiest node. */
  const spread: Policy = ({ nodes: all }, { gpus }) => {
    const free = all.map((node) =>
      node.freeMilli.flatMap((milli, gpu) => (milli === 1000 && !node.isCordoned ? [gpu] : [])),
    );
    const node = free.findIndex(
      (one) => one.length >= gpus && one.length === Math.max(...free.map(({ length }) => length)),
    );
    return node < 0 ? null : { node, gpus: (free[node] ?? []).slice(0, gpus) };
  };
  const follow = (tasks: readonly Task[], obedience: number) => {
    const cluster = liveCluster(fill({ nodes, pods: [] }, tasks, spread), tasks, spread);
    const rounds = followAdvice(cluster, productionEngine(["defragment"]), { obedience, seed: 1, rounds: 1 });
    return { rounds, tally: cluster.tally, free: unallocatedGpus(cluster.packing), waiting: cluster.waiting.length };
  };

  it("starts after one move that the engine advises", () => {
    expect(follow([task(0, 1), task(1, 1), task(2, 2)], 1)).toEqual({
      rounds: [{ offered: 1, carriedOut: 1, gainedGpus: 2 }],
      tally: { moves: 1, displaced: 0, doneAgainGpuHours: 1 / 6 },
      free: 0,
      waiting: 0,
    });
  });

  it("waits on if nobody carries it out", () => {
    const { rounds, tally, waiting } = follow([task(0, 1), task(1, 1), task(2, 2)], 0);
    expect([rounds, tally.moves, waiting]).toEqual([[{ offered: 1, carriedOut: 0, gainedGpus: 0 }], 0, 1]);
  });

  it("gets no advice that would undo a hundred hours of batch work for a day of two GPUs", () => {
    expect(follow([task(0, 1, "BE"), task(1, 1, "BE"), task(2, 2)], 1).rounds).toEqual([
      { offered: 0, carriedOut: 0, gainedGpus: 0 },
    ]);
  });
});

describe.skipIf(!hasOpenb())("the openb trace", () => {
  it("has the counts of the paper to the digit", () => {
    const study = caseStudyOf(readOpenb(`${traces}/openb`));
    expect(study).toEqual({
      jobs: 8152,
      withGpu: 7064,
      runningWithGpu: 4149,
      pendingWithGpu: 861,
      allocatedMilli: 3_373_300,
      capacityMilli: 6_212_000,
    });
    expect((100 * study.allocatedMilli) / study.capacityMilli).toBeCloseTo(54.3, 1);
    expect((100 * study.pendingWithGpu) / study.withGpu).toBeCloseTo(12.19, 2);
  });
});
