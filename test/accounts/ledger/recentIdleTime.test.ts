import { describe, expect, it } from "vitest";
import { recentIdleTime } from "../../../exporter/accounts/ledger/recentIdleTime.ts";
import { createRetention } from "../../../exporter/accounts/ledger/retention.ts";
import type { NodeTime } from "../../../exporter/accounts/posting.ts";
import { entry, keepAll, start } from "./entries.ts";
import { ledgerOf } from "./memoryLedger.ts";

const hour = 3600;
const day = 24 * hour;

function nodeTime(values: Partial<NodeTime>): NodeTime {
  return {
    hour: start,
    pool: "h100",
    nodePool: "gpu",
    capacityType: "spot",
    state: "idle_unallocated",
    nodeSeconds: 600,
    currency: null,
    cost: null,
    ...values,
  };
}

/** A covered interval of some hours with these node times. */
const hours = (from: number, count: number, ...nodeTimes: readonly NodeTime[]) =>
  entry({ from, to: from + count * hour, postings: [], nodeTimes });

describe("the idle time that a ledger knows", () => {
  it("is nothing in a new one", () => {
    expect(recentIdleTime(ledgerOf([]))).toBeNull();
  });

  it("is that of idle nodes, as it was written, with how much of the time is covered", () => {
    const priced = nodeTime({ state: "warm_allocated", capacityType: null, currency: "USD", cost: 1.5 });
    const found = recentIdleTime(
      ledgerOf([
        hours(start, 1, nodeTime({}), priced, nodeTime({ state: "ready" }), nodeTime({ state: "cordoned" })),
        entry({ from: start + hour, to: start + 2 * hour, gap: "stale-objects" }),
      ]),
    );
    expect(found?.nodeTimes).toHaveLength(2);
    expect(found?.nodeTimes).toEqual(expect.arrayContaining([nodeTime({}), priced]));
    expect(found?.intervals).toEqual([{ from: start, to: start + hour, seconds: hour, gap: null }]);
  });

  it("is that of the last seven days", () => {
    const found = recentIdleTime(
      ledgerOf([
        hours(start, 1, nodeTime({})),
        hours(start + 9 * day, 1, nodeTime({ hour: start + 9 * day, nodeSeconds: 60 })),
      ]),
    );
    expect(found?.nodeTimes.map(({ nodeSeconds }) => nodeSeconds)).toEqual([60]);
    expect(found?.intervals.map(({ from }) => from)).toEqual([start + 9 * day]);
  });

  it("of a day whose hours are folded is divided equally, and adds up", () => {
    const db = ledgerOf([
      hours(
        start,
        24,
        nodeTime({ nodeSeconds: 1200, currency: "USD", cost: 6 }),
        nodeTime({ hour: start + hour, currency: "USD", cost: 6 }),
      ),
      hours(start + day, 96, nodeTime({ hour: start + 4 * day })),
    ]);
    const retention = createRetention(db, { ...keepAll, hourlyDays: 2 });
    while (retention.slice());
    const nodeTimes = recentIdleTime(db)?.nodeTimes ?? [];
    const folded = nodeTimes.filter(({ currency }) => currency === "USD");
    expect(folded.map((one) => one.hour)).toEqual(Array.from({ length: 24 }, (_, i) => start + i * hour));
    expect(folded.reduce((sum, { nodeSeconds }) => sum + nodeSeconds, 0)).toBeCloseTo(1800, 9);
    expect(folded.reduce((sum, { cost }) => sum + (cost ?? 0), 0)).toBeCloseTo(12, 9);
    expect(nodeTimes).toHaveLength(25);
  });
});
