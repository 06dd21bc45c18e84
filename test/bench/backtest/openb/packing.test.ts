import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fragOnePod, highNodeUtilization } from "../../../../bench/backtest/openb/deschedulers.ts";
import { drawTasks, fill } from "../../../../bench/backtest/openb/fill.ts";
import { fragmentOf, typicalTasks } from "../../../../bench/backtest/openb/fragmentation.ts";
import { type LiveCluster, liveCluster } from "../../../../bench/backtest/openb/liveCluster.ts";
import type { OpenbTrace, TracePod } from "../../../../bench/backtest/openb/openbTrace.ts";
import { createPolicy, policyNames } from "../../../../bench/backtest/openb/policies.ts";
import { createRandomStream } from "../../../../simulator/random.ts";
import { naiveFragmentation, unusable } from "../../../analysis/placement/naiveFragmentation.ts";

const anyPod: fc.Arbitrary<TracePod> = fc
  .record({
    cpuMilli: fc.integer({ min: 0, max: 8 }).map((cores) => cores * 1000),
    gpus: fc.constantFrom(0, 1, 1, 1, 2, 4),
    part: fc.constantFrom(100, 250, 500, 1000),
    qos: fc.constantFrom("LS", "BE"),
  })
  .map(({ cpuMilli, gpus, part, qos }) => ({
    name: "pod",
    cpuMilli,
    memoryMiB: 1024,
    gpus,
    gpuMilli: gpus === 0 ? 0 : gpus === 1 ? part : 1000,
    qos,
    phase: "Running",
    ranSeconds: 7200,
  }));
const anyTrace: fc.Arbitrary<OpenbTrace> = fc.record({
  nodes: fc.array(
    fc.record({
      name: fc.constant("node"),
      cpuMilli: fc.constantFrom(8000, 16_000, 32_000),
      memoryMiB: fc.constantFrom(4096, 16_384),
      gpus: fc.constantFrom(1, 2, 4, 8),
      model: fc.constant("T4"),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  pods: fc.array(anyPod, { minLength: 3, maxLength: 20 }).filter((pods) => pods.some(({ gpus }) => gpus > 0)),
});

/** What is left of each node is what its tasks leave, and every task is on one node or waits. */
function expectSound({ packing, tasks, waiting }: LiveCluster): void {
  for (const [index, { node, cpuMilli, memoryMiB, freeMilli, tasks: own }] of packing.nodes.entries()) {
    const left = { cpu: node.cpuMilli, memory: node.memoryMiB, milli: Array<number>(node.gpus).fill(1000) };
    for (const id of own) {
      const [task, place] = [tasks.get(id), packing.places.get(id)];
      expect(place?.node).toBe(index);
      expect(new Set(place?.gpus).size).toBe(task?.gpus);
      left.cpu -= task?.cpuMilli ?? 0;
      left.memory -= task?.memoryMiB ?? 0;
      for (const gpu of place?.gpus ?? []) left.milli[gpu] = (left.milli[gpu] ?? 0) - (task?.gpuMilli ?? 0);
    }
    expect([cpuMilli, memoryMiB, freeMilli]).toEqual([left.cpu, left.memory, left.milli]);
    expect(Math.min(left.cpu, left.memory, ...left.milli)).toBeGreaterThanOrEqual(0);
  }
  expect(packing.places.size + waiting.length).toBe(tasks.size);
}

describe("filled clusters", () => {
  it("are sound under each placement, and after each descheduler", () => {
    fc.assert(
      fc.property(anyTrace, fc.integer({ min: 1, max: 99 }), fc.constantFrom(...policyNames), (trace, seed, name) => {
        const typical = typicalTasks(trace.pods);
        const tasks = drawTasks(trace, 1.3, createRandomStream(seed));
        const policy = createPolicy(name, typical, createRandomStream(seed));
        const filled = fill(trace, tasks, policy);
        for (const descheduler of [highNodeUtilization, fragOnePod(typical)]) {
          const cluster = liveCluster(filled, tasks, policy);
          expectSound(cluster);
          descheduler(cluster, 5);
          expectSound(cluster);
          expect(cluster.tally.moves).toBeLessThanOrEqual(5);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("the paper's fragment", () => {
  it("is that of its case table, read in the most obvious way", () => {
    const anyFree = fc.array(
      fc.integer({ min: 0, max: 10 }).map((tenths) => tenths * 100),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(
        fc.array(anyPod, { minLength: 1, maxLength: 20 }),
        anyFree,
        fc.integer({ min: 0, max: 8 }),
        (pods, free, cores) => {
          const typical = typicalTasks(pods);
          const node = { cpu: cores * 1000, memory: 0, free: free.map((milli) => milli / 1000), model: "T4" };
          const tasks = typical.map(({ cpuMilli, gpus, gpuMilli, popularity }) => {
            return { cpu: cpuMilli, memory: 0, gpus, share: gpuMilli / 1000, models: [], popularity };
          });
          const expected = unusable(naiveFragmentation([node], tasks));
          expect(fragmentOf(cores * 1000, free, typical) / 1000).toBeCloseTo(expected, 9);
        },
      ),
    );
  });
});
