import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { divideEntitlement } from "../../../exporter/analysis/localQueues/divideEntitlement.ts";
import type { LocalWait } from "../../../exporter/analysis/localQueues/localWork.ts";
import { analysed, snapshotOf } from "../../join/outcomes.ts";
import { kueueCluster } from "../../join/queues/capturedKueue.ts";
import { analysedLocal, byUsage, lineOf, localQueuesOf, sharesOf, usageSettings } from "./localCluster.ts";

/** The shares of each ClusterQueue and domain add up to what is reported about the ClusterQueue there. */
function checkSums(analysis: Analysis): void {
  const { shares } = localQueuesOf(analysis);
  const { queues } = analysis.snapshot.queueing;
  for (const [index, queue] of queues.entries()) {
    if (queue.kind !== "ClusterQueue") continue;
    const own = shares.filter((share) => share.queue === index);
    const sum = (of: "allocated" | "pending" | "entitled") => own.reduce((all, share) => all + (share[of] ?? 0), 0);
    expect(sum("allocated")).toBeCloseTo(queue.allocated, 6);
    expect(sum("pending")).toBeCloseTo(queue.pending, 6);
    const entitled = analysis.fairness.queues[index]?.entitled ?? null;
    if (entitled !== null) expect(sum("entitled")).toBeCloseTo(entitled, 6);
    for (const share of own) expect(share.entitled === null).toBe(entitled === null);
  }
}

const names = ["a/main", "a/other", "b/main", "c/main"] as const;

const job = (isRunning: boolean) =>
  fc.record({
    local: fc.constantFrom(...names),
    gpus: fc.integer({ min: 1, max: isRunning ? 4 : 12 }),
    priority: fc.constantFrom(0, 0, 10),
    ageSeconds: fc.integer({ min: 1, max: 5 }),
  });

const clusters = fc.record({
  running: fc.array(job(true), { maxLength: 4 }),
  waiting: fc.array(job(false), { maxLength: 8 }),
  nominal: fc.integer({ min: 0, max: 24 }),
  weights: fc.tuple(...names.map(() => fc.constantFrom(0, 1, 2, 5))),
  consumed: fc.tuple(...names.map(() => fc.integer({ min: 0, max: 3 }))),
  isByUsage: fc.boolean(),
});

describe("in any cluster", () => {
  test("what LocalQueues hold, wait for and are entitled to adds up to their ClusterQueue's; order changes nothing", () => {
    fc.assert(
      fc.property(clusters, ({ running, waiting, nominal, weights, consumed, isByUsage }) => {
        const locals = names.map(
          (name, i) => [name, { weight: weights[i] ?? 1, consumed: { "nvidia.com/gpu": consumed[i] ?? 0 } }] as const,
        );
        const build = (turn: <Item>(items: readonly Item[]) => readonly Item[]) =>
          analysedLocal({
            gpus: 16,
            nominal,
            settings: usageSettings,
            ...(isByUsage ? { queue: byUsage } : {}),
            locals: Object.fromEntries(turn(locals)),
            running: turn(running.map((one, i) => ({ ...one, name: `run-${i}` }))),
            waiting: turn(waiting.map((one, i) => ({ ...one, name: `wait-${i}` }))),
          });
        const analysis = build((items) => items);
        checkSums(analysis);
        for (const { allocated, pending, entitled } of localQueuesOf(analysis).shares)
          expect(entitled ?? 0).toBeLessThanOrEqual(allocated + pending + 1e-6);
        const turned = build((items) => items.toReversed());
        expect(sharesOf(turned)).toEqual(sharesOf(analysis));
        expect(lineOf(turned)).toEqual(lineOf(analysis));
      }),
      { numRuns: 300 },
    );
  });

  const amounts = fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 3, maxLength: 3 });
  const waits = fc.array(
    fc.record({
      local: fc.integer({ min: 0, max: 2 }),
      gpus: fc.integer({ min: 1, max: 8 }),
      places: fc.shuffledSubarray([0, 1, 2], { minLength: 1 }),
      isReserved: fc.boolean(),
    }),
    { maxLength: 7 },
  );

  test("nothing that could be used is lost between domains, nobody gets more than it can use there", () => {
    fc.assert(
      fc.property(
        amounts,
        fc.array(amounts, { minLength: 3, maxLength: 3 }),
        waits,
        fc.boolean(),
        (given, allocated, work, isWeighed) => {
          const all = allocated.map((one) => Float64Array.from(one));
          const localNames = [0, 1, 2].map((i) => ({ namespace: "n", name: `q${i}` }));
          const divided = divideEntitlement(
            { names: localNames, allocated: all, waits: work },
            given,
            isWeighed ? [1, 2, 0] : null,
          );
          const most = mostThatCanBeUsed(given, allocated, work);
          expect(sum(divided.flatMap((own) => [...own]))).toBeCloseTo(most, 6);
          for (const record of [0, 1, 2])
            expect(sum(divided.map((own) => own[record] ?? 0))).toBeLessThanOrEqual((given[record] ?? 0) + 1e-6);
          for (const [local, own] of divided.entries()) {
            const demand =
              sum(allocated[local] ?? []) + sum(work.filter((one) => one.local === local).map(({ gpus }) => gpus));
            expect(sum([...own])).toBeLessThanOrEqual(demand + 1e-6);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

const sum = (all: readonly number[]): number => all.reduce((a, b) => a + b, 0);

/** By the cut: for whichever places are closed, what is there and what may go elsewhere is a bound, and the least one is reached. */
function mostThatCanBeUsed(
  given: readonly number[],
  allocated: readonly (readonly number[])[],
  waits: readonly LocalWait[],
): number {
  let least = Number.POSITIVE_INFINITY;
  for (let closed = 0; closed < 8; closed++) {
    const isClosed = (place: number) => (closed & (1 << place)) !== 0;
    const there = sum(given.filter((_, place) => isClosed(place)));
    const kept = sum(allocated.flatMap((own) => own.filter((_, place) => !isClosed(place))));
    const others = sum(waits.filter(({ places }) => !places.every(isClosed)).map(({ gpus }) => gpus));
    least = Math.min(least, there + kept + others);
  }
  return least;
}

describe("the LocalQueues of a real Kueue 0.19", () => {
  const analysis = analysed(snapshotOf(kueueCluster()));
  const { shares, lines, positions } = localQueuesOf(analysis);

  test("add up to their ClusterQueues, in both domains", () => {
    checkSums(analysis);
    expect(shares.filter(({ queue }) => queue !== null).length).toBeGreaterThan(4);
  });

  test("hold what Kueue's own status says, with what it has admitted and no node runs yet", () => {
    const { queueing, queueObjects } = analysis.snapshot;
    for (const { namespace, name, usage } of queueObjects.kueueLocalQueues) {
      const used = sum(usage.filter(({ resource }) => resource === "nvidia.com/gpu").map(({ total }) => total));
      const own = shares.filter((share) => share.namespace === namespace && share.name === name);
      const admitted = queueing.gangs.filter(
        (gang) => gang.namespace === namespace && gang.localQueue === name && gang.reservedAt !== null,
      );
      const started = sum(own.map(({ allocated }) => allocated));
      expect(started + sum(admitted.map(({ gpus }) => gpus ?? 0)), name).toBe(used);
    }
    expect(sum(shares.map(({ allocated }) => allocated))).toBeGreaterThan(10);
  });

  test("every Workload that Kueue counts as pending is in a line", () => {
    for (const { name, pendingWorkloads } of analysis.snapshot.queueObjects.kueueClusterQueues)
      expect(lines.get(name)?.length ?? 0, name).toBe(pendingWorkloads ?? 0);
    expect(positions.size).toBeGreaterThan(0);
  });
});
