import { describe, expect, it } from "vitest";
import { judgeFairness } from "../../../exporter/analysis/fairness/judgeFairness.ts";
import type { Queueing } from "../../../exporter/join/queues/queueing.ts";
import { quotaDomain } from "../../queues/queueView.ts";
import { type QueueInput, queueing, waitingGang } from "./queueingBuilder.ts";

const root: QueueInput = { name: "kueue", kind: "Cohort" };

function of(moment: Queueing, name: string, domain = 0) {
  const index = moment.queues.findIndex((queue) => queue.name === name && queue.domain === domain);
  return judgeFairness(moment, null).queues[index];
}

function pairsOf(moment: Queueing): readonly string[] {
  const name = (index: number) => moment.queues[index]?.name;
  const pairs = judgeFairness(moment, null).domains[0]?.pairs ?? [];
  return pairs.map(({ starved, borrower, gpus }) => `${name(starved)} < ${name(borrower)}: ${gpus}`);
}

describe("a borrower and a starved queue", () => {
  const moment = queueing([
    root,
    { name: "vision", parent: "kueue", guaranteed: 8, allocated: 14 },
    { name: "speech", parent: "kueue", guaranteed: 8, allocated: 2, waiting: [4, 4] },
  ]);

  it("have deviations above and below 0", () => {
    expect(of(moment, "vision")).toMatchObject({ entitled: 8, deviation: 6, excess: 6, shortfall: 0 });
    expect(of(moment, "speech")).toMatchObject({ demand: 10, entitled: 8, deviation: -6, shortfallByBorrowers: 6 });
    expect(of(moment, "kueue")).toMatchObject({ demand: 24, entitled: 16, deviation: 0 });
    // One gang of 4 fits into the 6: who gave back 6 would give 2 for nothing.
    expect(pairsOf(moment)).toEqual(["speech < vision: 4"]);
  });

  it("make the domain's numbers", () => {
    expect(judgeFairness(moment, null).domains[0]).toMatchObject({
      allocated: 16,
      pending: 8,
      entitled: 16,
      excess: 6,
      shortfall: 6,
      idleGap: 0,
      misallocatedRatio: 4 / 16,
      jainIndex: (14 / 8 + 2 / 8) ** 2 / (2 * ((14 / 8) ** 2 + (2 / 8) ** 2)),
    });
  });

  it("are no pair as far as the GPUs are on cordoned nodes", () => {
    const cordoned = queueing([
      root,
      { name: "vision", parent: "kueue", guaranteed: 8, allocated: 14, allocatedOnUnschedulable: 11 },
      { name: "speech", parent: "kueue", guaranteed: 8, allocated: 2, waiting: [2, 2, 2] },
    ]);
    expect(pairsOf(cordoned)).toEqual(["speech < vision: 2"]);
    // 5 GPUs are in service: 3 of vision, which has more than its guarantee elsewhere, and 2 of speech.
    expect(of(cordoned, "vision")).toMatchObject({ entitled: 11, deviation: 3 });
    expect(of(cordoned, "speech")).toMatchObject({
      ...{ entitled: 5, shortfall: 6, shortfallByBorrowers: 3, shortfallByIndivisible: 0 },
      shortfallByAbsentCapacity: [{ owner: "lost_node", gpus: 3 }],
    });
  });
});

describe("the example of docs/fairness.md", () => {
  const moment = queueing(
    [
      { name: "kai", kind: "Scheduler", scheduler: "kai", guaranteed: 12 },
      { name: "research", parent: "kai", guaranteed: 8, priority: 1 },
      { name: "vision", parent: "research", guaranteed: 4, allocated: 10 },
      { name: "speech", parent: "research", guaranteed: 4, weight: 3, waiting: [6, 6] },
      { name: "batch", parent: "kai", guaranteed: 4, limit: 6, allocated: 5, waiting: [4] },
      { name: "scraps", parent: "kai", weight: 0, zeroWeight: "never", waiting: [2] },
      { name: "unqueued", kind: "Unqueued", allocated: 4 },
    ],
    [quotaDomain({ capacity: 24 })],
  );

  it("comes out as that page says", () => {
    const rows = ["research", "vision", "speech", "batch", "scraps"].map((name) => {
      const { entitled, deviation } = of(moment, name) ?? {};
      return [name, entitled, deviation];
    });
    expect(rows).toEqual([
      ["research", 16, -6],
      ["vision", 6, 4],
      ["speech", 10, -10],
      ["batch", 4, 1],
      ["scraps", 0, 0],
    ]);
    expect(of(moment, "speech")).toMatchObject({
      shortfallByBorrowers: 5,
      shortfallByIdleGap: 5,
      actionableShortfall: 6,
    });
    // 5 are free: one more starts the first gang of 6, and nothing that others hold starts the second.
    expect(pairsOf(moment)).toEqual(["speech < vision: 1"]);
  });
});

describe("actionable shortfall", () => {
  const speech = (change: Partial<QueueInput>) =>
    of(
      queueing([
        root,
        { name: "vision", parent: "kueue", guaranteed: 8, allocated: 13 },
        { name: "speech", parent: "kueue", guaranteed: 8, allocated: 3, ...change },
      ]),
      "speech",
    );

  it("is nothing where no gang fits", () => {
    expect(speech({ waiting: [8] })).toMatchObject({ shortfall: 5, actionableShortfall: 0 });
  });
  it("passes over a gang that does not fit", () => {
    expect(speech({ waiting: [8, 2, 4, 3] })).toMatchObject({ shortfall: 5, actionableShortfall: 5 });
    expect(speech({ waiting: [3, 8, 3, 1] })).toMatchObject({ actionableShortfall: 4 });
  });
  it("stops there in a strict queue", () => {
    expect(speech({ waiting: [3, 8, 2], isStrictOrder: true })).toMatchObject({ actionableShortfall: 3 });
    expect(speech({ waiting: [8, 2], isStrictOrder: true })).toMatchObject({ actionableShortfall: 0 });
  });
  it("does not count gangs that can never run, nor their unknown sizes", () => {
    const moment = queueing([
      root,
      { name: "vision", parent: "kueue", guaranteed: 8, allocated: 13 },
      { name: "speech", parent: "kueue", guaranteed: 8, allocated: 3, waiting: [5] },
    ]);
    const blockedBy = (never: "paused" | "above-limit", isStrictOrder: boolean) => {
      const gangs = [...moment.gangs, waitingGang(2, 1, { never })];
      const queues = moment.queues.map((queue, i) => (i === 2 ? { ...queue, gangs: [1, 0], isStrictOrder } : queue));
      return of({ ...moment, gangs, queues }, "speech")?.actionableShortfall;
    };
    expect(blockedBy("paused", true)).toBe(5);
    expect(blockedBy("above-limit", true)).toBe(0);
    expect(blockedBy("above-limit", false)).toBe(5);
    const unknown = queueing([root, { name: "speech", parent: "kueue", pending: 5, waiting: [] }]);
    expect(of(unknown, "speech")).toMatchObject({ shortfall: 5, actionableShortfall: 0 });
  });
});

describe("what does not make anyone look unfair", () => {
  it("a quota that spans GPU models: one domain, whoever holds which model", () => {
    const both = quotaDomain({ name: "A100+H100", pools: ["A100", "H100"], capacity: 32 });
    const moment = queueing(
      [
        root,
        { name: "on-h100", parent: "kueue", guaranteed: 16, allocated: 16 },
        { name: "on-a100", parent: "kueue", guaranteed: 16, allocated: 16 },
      ],
      [both],
    );
    expect(judgeFairness(moment, null).domains[0]).toMatchObject({ excess: 0, shortfall: 0, misallocatedRatio: 0 });
  });

  it("a second scheduler with a root of its own", () => {
    const moment = queueing([
      { name: "kueue", kind: "Scheduler", guaranteed: 8, limit: 8 },
      { name: "vision", parent: "kueue", guaranteed: 8, allocated: 8, waiting: [4] },
      { name: "volcano", kind: "Scheduler", scheduler: "volcano" },
      { name: "speech", parent: "volcano", allocated: 8 },
    ]);
    expect(of(moment, "vision")).toMatchObject({ entitled: 8, deviation: 0 });
    expect(of(moment, "speech")).toMatchObject({ entitled: 8, deviation: 0 });
  });

  it("a partly bound gang: its missing members wait for idle GPUs, not for anybody else's", () => {
    const moment = queueing([
      root,
      { name: "vision", parent: "kueue", guaranteed: 8, allocated: 3, waiting: [5] },
      { name: "speech", parent: "kueue", guaranteed: 8, allocated: 8 },
    ]);
    expect(of(moment, "vision")).toMatchObject({ shortfall: 5, shortfallByBorrowers: 0, shortfallByIdleGap: 5 });
    expect(of(moment, "speech")).toMatchObject({ deviation: 0 });
    expect(judgeFairness(moment, null).domains[0]).toMatchObject({ idleGap: 5, misallocatedRatio: 0, pairs: [] });
  });

  it("a cordon under a queue that borrows what another does not ask for, with a lending limit beside it", () => {
    const queues: readonly QueueInput[] = [
      root,
      { name: "keeper", parent: "kueue", guaranteed: 10, lendingLimit: 0 },
      { name: "borrower", parent: "kueue", guaranteed: 10, allocated: 15 },
      { name: "lender", parent: "kueue", guaranteed: 10 },
    ];
    for (const capacity of [30, 20, 15])
      expect(of(queueing(queues, [quotaDomain({ capacity })]), "borrower")).toMatchObject({ deviation: 0 });
  });

  it("quotas that together are more than there is, cut at the capacity one by one, with a lending limit among them", () => {
    const moment = queueing(
      [
        { name: "kueue", kind: "Scheduler", guaranteed: 15 },
        { name: "keeper", parent: "kueue", guaranteed: 15, lendingLimit: 0, allocated: 2 },
        { name: "vision", parent: "kueue", guaranteed: 10, allocated: 10, waiting: [5] },
      ],
      [quotaDomain({ capacity: 15 })],
    );
    expect(of(moment, "keeper")).toMatchObject({ entitled: 2, deviation: 0 });
    expect(of(moment, "vision")).toMatchObject({ entitled: 10, deviation: 0 });
  });

  it("pods that no queue answers for: they keep what they hold, and get no more", () => {
    const moment = queueing([
      root,
      { name: "vision", parent: "kueue", guaranteed: 12, allocated: 4, waiting: [8] },
      {
        name: "unqueued",
        kind: "Unqueued",
        guaranteed: 12,
        weight: 0,
        zeroWeight: "never",
        allocated: 12,
        waiting: [4],
      },
    ]);
    expect(of(moment, "unqueued")).toMatchObject({ demand: 16, entitled: 12, deviation: 0 });
    expect(of(moment, "vision")).toMatchObject({ entitled: 4, deviation: 0 });
    expect(judgeFairness(moment, null).domains[0]).toMatchObject({ entitled: 16, allocated: 16 });
  });
});

describe("pairs", () => {
  it("match relatives first, then the largest with the largest", () => {
    const moment = queueing(
      [
        root,
        { name: "research", parent: "kueue", guaranteed: 16 },
        { name: "r1", parent: "research", guaranteed: 8, allocated: 14 },
        { name: "r2", parent: "research", guaranteed: 8, allocated: 4, waiting: [4] },
        { name: "product", parent: "kueue", guaranteed: 16 },
        { name: "p1", parent: "product", guaranteed: 8, allocated: 7, waiting: [1] },
        { name: "p2", parent: "product", guaranteed: 8, allocated: 7, waiting: [1] },
      ],
      [quotaDomain({ capacity: 32 })],
    );
    expect(pairsOf(moment)).toEqual(["r2 < r1: 4", "p1 < r1: 1", "p2 < r1: 1"]);
  });
});

describe("domains", () => {
  const domains = [quotaDomain(), quotaDomain({ name: "A100", unknownBecause: "units differ" })];
  const moment = queueing(
    [
      { ...root, domain: 0 },
      { name: "a", parent: "kueue", allocated: 8, waiting: [8] },
      { ...root, domain: 1 },
      { name: "b", parent: "kueue", domain: 1, allocated: 8, waiting: [8] },
    ],
    domains,
  );

  it("say nothing where nothing can be known", () => {
    const fairness = judgeFairness(moment, null);
    expect(fairness.queues.map((queue) => queue !== null)).toEqual([true, true, false, false]);
    expect(fairness.domains[1]).toBeNull();
    expect(fairness.teams.map(({ team }) => team)).toEqual(["a"]);
  });

  it("have no Jain index where nobody is entitled to anything, and 1 where nobody holds anything yet", () => {
    const empty = judgeFairness(queueing([root, { name: "a", parent: "kueue" }]), null).domains[0];
    expect(empty).toMatchObject({ jainIndex: null, misallocatedRatio: 0 });
    const waiting = judgeFairness(queueing([root, { name: "a", parent: "kueue", waiting: [4] }]), null).domains[0];
    expect(waiting).toMatchObject({ jainIndex: 1, idleGap: 4 });
  });

  it("count each team's part of every leaf, and divide a shared leaf equally by demand", () => {
    const shared = queueing([
      root,
      {
        name: "both",
        parent: "kueue",
        allocated: 12,
        waiting: [12],
        limit: 12,
        teams: [
          { team: "blue", allocated: 2, pending: 12 },
          { team: "red", allocated: 10, pending: 0 },
        ],
      },
      { name: "own", parent: "kueue", allocated: 4, teams: [{ team: "red", allocated: 4, pending: 0 }] },
    ]);
    expect(judgeFairness(shared, null).teams).toEqual([
      { team: "blue", domain: 0, allocated: 2, pending: 12, entitled: 6, deviation: -4 },
      { team: "red", domain: 0, allocated: 14, pending: 0, entitled: 10, deviation: 4 },
    ]);
  });
});

describe("history", () => {
  it("owes less to the one who has used more", () => {
    const moment = queueing([
      { ...root, scheduler: "kai" },
      { name: "a", kind: "Queue", scheduler: "kai", parent: "kueue", allocated: 16, waiting: [16] },
      { name: "b", kind: "Queue", scheduler: "kai", parent: "kueue", waiting: [16] },
    ]);
    const usage = new Map([["kai/Queue/a/H100", 0.5]]);
    const entitled = judgeFairness(moment, { usage, kValue: 1 }).queues.map((queue) => queue?.entitled);
    // P = 0.5 + (0.5 - 0.5) and 0.5 + (0.5 - 0).
    expect(entitled[1]).toBeCloseTo(16 / 3, 9);
    expect(entitled[2]).toBeCloseTo(32 / 3, 9);
  });
});
