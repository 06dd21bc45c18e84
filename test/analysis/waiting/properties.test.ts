import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { explainWaiting } from "../../../exporter/analysis/waiting/explainWaiting.ts";
import { waitBuckets } from "../../../exporter/analysis/waiting/waiting.ts";
import type { WaitingGang, WaitingPart } from "../../../exporter/join/queues/queueing.ts";
import { now } from "../../join/clusterBuilder.ts";
import { leaf, part, requests, type TestNode, waitingGang, waitingMoment } from "./waitingBuilder.ts";

const settings = { waitTargets: [{ queue: "re*", priorityClass: "*", seconds: 300 }] };

/** One pod's GPUs and CPU cores. */
interface Wish {
  readonly physicalGpus: number;
  readonly cpu: number;
}

/** Tries every node for every pod. */
function canPlace(nodes: readonly Wish[], pods: readonly Wish[]): boolean {
  const [pod, ...others] = pods;
  if (pod === undefined) return true;
  return nodes.some((node, i) => {
    if (node.physicalGpus < pod.physicalGpus || node.cpu < pod.cpu) return false;
    const left = { physicalGpus: node.physicalGpus - pod.physicalGpus, cpu: node.cpu - pod.cpu };
    return canPlace(nodes.with(i, left), others);
  });
}

const wishes = (most: number) =>
  fc.array(fc.record({ physicalGpus: fc.integer({ min: 1, max: 4 }), cpu: fc.integer({ min: 1, max: 6 }) }), {
    minLength: 1,
    maxLength: most,
  });

describe("placing a gang", () => {
  it("finds places exactly where trying every node for every pod does", () => {
    fc.assert(
      fc.property(wishes(3), wishes(5), (nodes, pods) => {
        const testNodes = nodes.map(
          ({ physicalGpus, cpu }): TestNode => ({
            allocated: [0, 0, 0, 0, 0].map((_, i) => (i < physicalGpus ? 0 : 1)),
            allocatableCpuMilli: 20_000,
            cpuMilliUsed: 20_000 - cpu * 1000,
          }),
        );
        const parts = pods.map(({ physicalGpus, cpu }) =>
          part(1, physicalGpus, requests({ "nvidia.com/gpu": physicalGpus, cpu })),
        );
        const cause = explainWaiting(waitingMoment(testNodes, [waitingGang(parts)]), settings).work[0]?.cause;
        const free = nodes.reduce((sum, node) => sum + node.physicalGpus, 0);
        const asked = pods.reduce((sum, pod) => sum + pod.physicalGpus, 0);
        const isPart = pods.length >= 2 && pods.some((pod) => canPlace(nodes, [pod]));
        const short = isPart ? "gang" : "capacity";
        const expected = canPlace(nodes, pods) ? "scheduler" : asked > free ? short : "fragmentation";
        expect(cause).toBe(expected);
      }),
      { seed: 4, numRuns: 3000 },
    );
  });

  it("counts pods that are alike as trying them one by one does", () => {
    fc.assert(
      fc.property(wishes(3), wishes(1), fc.integer({ min: 1, max: 5 }), (nodes, [pod], count) => {
        if (pod === undefined) return;
        const testNodes = nodes.map(
          ({ physicalGpus, cpu }): TestNode => ({
            allocated: [0, 0, 0, 0, 0].map((_, i) => (i < physicalGpus ? 0 : 1)),
            allocatableCpuMilli: 20_000,
            cpuMilliUsed: 20_000 - cpu * 1000,
          }),
        );
        const one = part(count, pod.physicalGpus, requests({ "nvidia.com/gpu": pod.physicalGpus, cpu: pod.cpu }));
        const cause = explainWaiting(waitingMoment(testNodes, [waitingGang([one])]), settings).work[0]?.cause;
        const fits = canPlace(nodes, new Array<Wish>(count).fill(pod));
        expect(cause === "scheduler").toBe(fits);
      }),
      { seed: 5, numRuns: 2000 },
    );
  });
});

const anyPart = fc.record({
  pods: fc.integer({ min: 1, max: 4 }),
  gpus: fc.option(fc.constantFrom(0, 0.5, 1, 2, 8), { freq: 8 }),
  queue: fc.constantFrom(0, 1, null),
  domain: fc.constantFrom(0, 1, null),
});

const anyGang = fc
  .record({
    parts: fc.array(anyPart, { minLength: 0, maxLength: 3 }),
    age: fc.option(fc.constantFrom(0, 30, 31, 300, 1e6), { freq: 5 }),
    never: fc.option(fc.constantFrom("paused", "above-limit", "no-node", "no-queue"), { freq: 2 }),
    priorityClass: fc.constantFrom("none", "high"),
    bound: fc.integer({ min: 0, max: 2 }),
    notReadyPods: fc.integer({ min: 0, max: 2 }),
    queue: fc.constantFrom("research", "serving", null),
    isReserved: fc.boolean(),
  })
  .map(({ parts, age, isReserved, ...rest }): Omit<WaitingGang, "uid"> => {
    const waiting = parts.map(
      ({ pods, gpus, queue, domain }): WaitingPart =>
        part(pods, gpus, { queue, domain, ...requests(gpus === 0.5 ? {} : { "nvidia.com/gpu": gpus ?? 1 }) }),
    );
    const times = { since: age === null ? null : now - age, reservedAt: isReserved ? now - 10 : null };
    return waitingGang(waiting, { ...rest, ...times });
  });

const anyGangs = fc
  .array(anyGang, { maxLength: 12 })
  .map((gangs) => gangs.map((gang, i) => ({ ...gang, uid: `g${i}` })));

const nodes: readonly TestNode[] = [
  { allocated: [0, 0, 0, 1, 1, 1, 1, 1], allocatableCpuMilli: 64_000 },
  { allocated: [0.5, 0.5], physicalGpu: { pool: "A100" }, pools: ["A100"] },
];

function momentOf(gangs: readonly WaitingGang[]) {
  const queue = (name: string, index: number) =>
    leaf({
      name,
      domain: index,
      limit: 6,
      isStrictOrder: index === 0,
      gangs: gangs.flatMap((gang, i) => (gang.parts.some((one) => one.queue === index) ? [i] : [])),
    });
  const domains = ["H100", "A100"].map((name) => ({
    name,
    pools: [name],
    capacity: 8,
    allocatedOnUnschedulable: 0,
    unknownBecause: null,
  }));
  return waitingMoment(nodes, gangs, { domains, queues: [queue("research", 0), queue("serving", 1)] });
}

describe("all that waits", () => {
  it("has one cause each, and its GPUs add up over queues", () => {
    fc.assert(
      fc.property(anyGangs, (gangs) => {
        const { work, queues } = explainWaiting(momentOf(gangs), settings);
        expect(work.map(({ gang }) => gang)).toEqual(gangs.map((_gang, i) => i));
        const byCause = (cause: string) =>
          work.reduce((sum, one) => sum + (one.cause === cause ? (gangs[one.gang]?.gpus ?? 0) : 0), 0);
        const summed = new Map<string, number>();
        for (const { gpus } of queues) {
          for (const [cause, amount] of Object.entries(gpus)) summed.set(cause, (summed.get(cause) ?? 0) + amount);
        }
        for (const { cause } of work) expect(summed.get(cause) ?? 0).toBeCloseTo(byCause(cause), 9);
        for (const { gangs: count, ageBuckets, late } of queues) {
          expect(ageBuckets).toHaveLength(waitBuckets.length + 1);
          expect(ageBuckets).toEqual([...ageBuckets].sort((a, b) => a - b));
          expect(ageBuckets.at(-1)).toBeLessThanOrEqual(count);
          expect(late).toBeLessThanOrEqual(count);
        }
      }),
      { seed: 6, numRuns: 1000 },
    );
  });

  it("does not depend on the order of gangs and nodes", () => {
    fc.assert(
      fc.property(anyGangs, (gangs) => {
        const moment = momentOf(gangs);
        const backwards = momentOf(gangs.toReversed());
        const last = gangs.length - 1;
        // Queues serve in the same order as before.
        const queues = moment.queueing.queues.map((queue) => ({ ...queue, gangs: queue.gangs.map((i) => last - i) }));
        const turned = {
          ...backwards,
          nodes: backwards.nodes.toReversed(),
          queueing: { ...backwards.queueing, queues },
        };
        const causes = explainWaiting(moment, settings).work.map(({ cause }) => cause);
        const others = explainWaiting(turned, settings).work.map(({ cause }) => cause);
        expect(others.toReversed()).toEqual(causes);
      }),
      { seed: 7, numRuns: 500 },
    );
  });

  it("has the cause that it would have if no other gang had the very same parts", () => {
    const oneOther = fc.oneof(
      fc.record({ reason: fc.constantFrom("WaitingForQuota", "NoMatchingFlavor", "NotEnoughTasks") }),
      fc.record({ never: fc.constantFrom(null, "paused" as const, "above-limit" as const) }),
      fc.record({ scheduler: fc.constantFrom("kueue" as const, "none" as const) }),
      fc.record({ min: fc.integer({ min: 1, max: 9 }) }),
      fc.record({ bound: fc.integer({ min: 0, max: 9 }) }),
      fc.record({ notReadyPods: fc.integer({ min: 0, max: 9 }) }),
      fc.record({ membersRunAlone: fc.boolean() }),
      fc.record({ reservedAt: fc.constantFrom(null, now - 10) }),
      fc.constant({ checks: ["prov"] }),
    );
    fc.assert(
      fc.property(anyGang, fc.array(oneOther, { minLength: 1, maxLength: 6 }), (first, others) => {
        const alike = [{}, ...others].map(
          (other, i): WaitingGang => ({ ...first, never: null, ...other, uid: `g${i}` }),
        );
        const apart = alike.map((gang) => ({ ...gang, parts: [...gang.parts] }));
        expect(explainWaiting(momentOf(alike), settings)).toEqual(explainWaiting(momentOf(apart), settings));
      }),
      { seed: 8, numRuns: 3000 },
    );
  });
});
