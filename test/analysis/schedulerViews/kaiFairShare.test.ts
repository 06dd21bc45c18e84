import { describe, expect, it } from "vitest";
import { type KaiShareInput, kaiFairShares } from "../../../exporter/analysis/schedulerViews/kaiFairShare.ts";

const unlimited = Number.POSITIVE_INFINITY;

function queue(name: string, changes: Partial<KaiShareInput> = {}): KaiShareInput {
  return {
    name,
    createdAt: name === "1" ? 1 : 2,
    priority: 0,
    quota: 2,
    limit: unlimited,
    overQuotaWeight: 2,
    requested: 6,
    usage: 0,
    ...changes,
  };
}

/** Inputs and results of KAI-Scheduler v0.12, pkg/scheduler/plugins/proportion/resource_division/resource_division_test.go. */
const published: readonly (readonly [
  what: string,
  total: number,
  queues: readonly KaiShareInput[],
  shares: readonly number[],
])[] = [
  ["allocates many available gpus", 15, [queue("1"), queue("2")], [6, 6]],
  ["allocates exact requested amount gpus", 12, [queue("1"), queue("2")], [6, 6]],
  [
    "allocates GPUs proportionally",
    8,
    [queue("1", { overQuotaWeight: 1 }), queue("2", { overQuotaWeight: 3 })],
    [3, 5],
  ],
  ["doesn't allocate more than allowed", 12, [queue("1", { limit: 5 }), queue("2")], [5, 6]],
  [
    "distributes remainder between queues based on largest remaining",
    11,
    [queue("1", { overQuotaWeight: 1, requested: 10 }), queue("2", { overQuotaWeight: 4, requested: 10 })],
    [3, 8],
  ],
  ["distributes remainder between queues based on creation time", 11, [queue("1"), queue("2")], [6, 5]],
  ["priority doesn't affect deserved", 4, [queue("1", { priority: 1 }), queue("2", { priority: 2 })], [2, 2]],
  ["priority does affect over-quota", 6, [queue("1", { priority: 1 }), queue("2", { priority: 2 })], [2, 4]],
  [
    "priority does affect over-quota, even when overQuotaWeight is set",
    6,
    [queue("1", { priority: 1, overQuotaWeight: 100 }), queue("2", { priority: 2, overQuotaWeight: 1 })],
    [2, 4],
  ],
  [
    "divides the remainder even when using priorities",
    5,
    [
      queue("1", { priority: 2, requested: 5 }),
      queue("2", { priority: 2, requested: 5 }),
      queue("3", { priority: 1, requested: 0, quota: 1 }),
    ],
    [3, 2, 0],
  ],
];

describe("KAI's fair share", () => {
  it.each(published)("%s", (_what, total, queues, expected) => {
    const shares = kaiFairShares(queues, total, 0);
    expect(queues.map(({ name }) => shares.get(name))).toEqual(expected);
  });

  it("quotas that exceed the total are given all the same, as KAI does", () => {
    const shares = kaiFairShares([queue("1", { quota: 5 }), queue("2", { quota: 5 })], 6, 0);
    expect([...shares.values()]).toEqual([5, 5]);
  });

  it("past use takes from the surplus in proportion to k", () => {
    // w = 1/2 each; P1 = max(0, 0.5 + 1 x (0.5 - 0.75)) = 0.25, P2 = 0.5 + 1 x (0.5 - 0.25) = 0.75.
    const queues = [
      queue("1", { quota: 0, requested: 40, usage: 0.75 }),
      queue("2", { quota: 0, requested: 40, usage: 0.25 }),
    ];
    expect([...kaiFairShares(queues, 16, 1).values()]).toEqual([4, 12]);
    expect([...kaiFairShares(queues, 16, 0).values()]).toEqual([8, 8]);
  });
});
