import { describe, expect, it } from "vitest";
import { explainWaiting } from "../../../exporter/analysis/waiting/explainWaiting.ts";
import type { WaitingGang } from "../../../exporter/join/queues/queueing.ts";
import { now } from "../../join/clusterBuilder.ts";
import { leaf, part, type TestNode, waitingGang, waitingMoment } from "./waitingBuilder.ts";

const full: TestNode = { allocated: [1, 1, 1, 1, 1, 1, 1, 1] };
const aged = (seconds: number | null, gpus: number, parts: Partial<WaitingGang> = {}) =>
  waitingGang([part(1, gpus)], { since: seconds === null ? null : now - seconds, ...parts });

function explain(gangs: readonly WaitingGang[], waitTargets: Parameters<typeof explainWaiting>[1]["waitTargets"] = []) {
  return explainWaiting(waitingMoment([full], gangs), { waitTargets });
}

describe("the waits of a queue", () => {
  it("are weighted by GPUs, and counted by age", () => {
    const [queue] = explain([aged(100, 1), aged(30, 3), aged(1e7, 4), aged(null, 2)]).queues;
    expect(queue).toMatchObject({ queue: 0, domain: 0, gangs: 4, gpus: { capacity: 10 }, oldestSeconds: 1e7 });
    expect(queue?.meanGpuAgeSeconds).toBeCloseTo((100 + 3 * 30 + 4 * 1e7) / 8, 6);
    // 30, 60 and 120 seconds.
    expect(queue?.ageBuckets.slice(0, 3)).toEqual([1, 1, 2]);
    expect(queue?.ageBuckets.at(-1)).toBe(3);
  });

  it("are apart by priority class", () => {
    const gangs = [aged(10, 1), aged(10, 2, { priorityClass: "high" })];
    expect(explain(gangs).queues.map(({ priorityClass, gpus }) => [priorityClass, gpus.capacity])).toEqual([
      ["high", 2],
      ["none", 1],
    ]);
  });

  it("are of each part in its own queue and domain", () => {
    const gang = waitingGang([part(1, 8), part(2, 1, { queue: 1, domain: 1 }), part(1, 2, { queue: 1, domain: 1 })]);
    const { queues } = explain([gang]);
    expect(queues.map(({ queue, domain, gangs }) => [queue, domain, gangs])).toEqual([
      [0, 0, 1],
      [1, 1, 1],
    ]);
    expect(queues.flatMap(({ gpus }) => Object.values(gpus))).toEqual([8, 4]);
  });

  it("keep a gang of unknown size out of the GPUs, but not out of the ages", () => {
    const [queue] = explain([waitingGang([part(1, null)])]).queues;
    expect(queue).toMatchObject({ gangs: 1, gpus: {}, oldestSeconds: 600, meanGpuAgeSeconds: null });
  });
});

describe("a wait target", () => {
  const targets = [
    { queue: "research", priorityClass: "high", seconds: 60 },
    { queue: "re*", priorityClass: "*", seconds: 600 },
  ];

  it("is the first that matches queue and class", () => {
    const gangs = [
      aged(61, 1, { priorityClass: "high" }),
      aged(61, 1),
      aged(601, 1, { queue: "retail" }),
      aged(1e6, 1, { queue: "serving" }),
      aged(null, 1),
    ];
    const { work, queues } = explain(gangs, targets);
    expect(work.map(({ isLate }) => isLate)).toEqual([true, false, true, null, null]);
    expect(queues.map(({ priorityClass, late }) => [priorityClass, late])).toEqual([
      ["high", 1],
      ["none", 1],
    ]);
  });
});

describe("ages", () => {
  it("are never below 0", () => {
    expect(explain([aged(-50, 1)]).work[0]?.ageSeconds).toBe(0);
  });

  it("of nothing are nothing", () => {
    expect(explainWaiting(waitingMoment([full], [], { queues: [leaf()] }), { waitTargets: [] }).queues).toEqual([]);
  });
});
