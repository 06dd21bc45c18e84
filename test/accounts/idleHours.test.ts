import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createIdleHours, type IdleHours, idleWindows } from "../../exporter/accounts/idleHours.ts";
import type { IdleNodeState } from "../../exporter/accounts/idleNodeStates.ts";
import type { NodeTime, StepInterval } from "../../exporter/accounts/posting.ts";
import { hourParts } from "../../exporter/accounts/stepTime.ts";

const start = Date.UTC(2026, 10, 2) / 1000;
const hour = 3600;

interface Idle {
  readonly state?: IdleNodeState | "ready";
  readonly nodes: number;
  readonly nodePool?: string;
  /** Of each node, per hour. */
  readonly price?: number;
}

/** A covered step with idle nodes, as it is accrued. */
function step(from: number, to: number, idle: readonly Idle[]) {
  const interval: StepInterval = { from, to, seconds: to - from, gap: null };
  const nodeTimes = hourParts({ ...interval, intervalSeconds: to - from }).flatMap((part) =>
    idle.map(({ state = "idle_unallocated", nodes, nodePool = "np", price }): NodeTime => {
      const nodeSeconds = nodes * part.seconds;
      const money =
        price === undefined ? { currency: null, cost: null } : { currency: "USD", cost: (price * nodeSeconds) / hour };
      return { hour: part.hour, pool: "H100", nodePool, capacityType: null, state, nodeSeconds, ...money };
    }),
  );
  return { interval, nodeTimes };
}

const gap = (from: number, to: number) => ({
  interval: { from, to, seconds: to - from, gap: "too-long" as const },
  nodeTimes: [],
});

const inWindow = (hours: IdleHours, name: keyof typeof idleWindows, at: number) =>
  hours.windows(at).find(({ window }) => window === name) ?? { coveredSeconds: -1, times: [] };

const nodeHours = (hours: IdleHours, name: keyof typeof idleWindows, at: number): number =>
  inWindow(hours, name, at).times.reduce((sum, { nodeSeconds }) => sum + nodeSeconds, 0) / hour;

describe("hours of idle nodes", () => {
  it("add up by pool, node pool and state; what is not idle is not there", () => {
    const hours = createIdleHours(null);
    hours.add(
      step(start, start + hour, [{ nodes: 2 }, { nodes: 1, state: "warm_allocated" }, { nodes: 5, state: "ready" }]),
    );
    hours.add(step(start + hour, start + 3 * hour, [{ nodes: 1 }]));
    expect(inWindow(hours, "24h", start + 3 * hour)).toEqual({
      window: "24h",
      coveredSeconds: 3 * hour,
      times: [
        {
          pool: "H100",
          nodePool: "np",
          capacityType: null,
          state: "idle_unallocated",
          currency: null,
          nodeSeconds: 4 * hour,
          cost: null,
        },
        {
          pool: "H100",
          nodePool: "np",
          capacityType: null,
          state: "warm_allocated",
          currency: null,
          nodeSeconds: hour,
          cost: null,
        },
      ],
    });
  });

  it("cost what their time cost, and without a price nothing is known", () => {
    const hours = createIdleHours(null);
    hours.add(step(start, start + 2 * hour, [{ nodes: 3, price: 10 }, { nodes: 1 }]));
    const { times } = inWindow(hours, "7d", start + 2 * hour);
    expect(times.map(({ currency, cost }) => [currency, cost])).toEqual([
      ["USD", 60],
      [null, null],
    ]);
  });

  it("leave the windows as they grow old, the last hour in proportion", () => {
    const hours = createIdleHours(null);
    hours.add(step(start, start + hour, [{ nodes: 4 }]));
    hours.add(step(start + hour, start + 26 * hour, []));
    expect(nodeHours(hours, "24h", start + 24 * hour)).toBeCloseTo(4);
    expect(nodeHours(hours, "24h", start + 24.25 * hour)).toBeCloseTo(3);
    expect(nodeHours(hours, "24h", start + 25 * hour)).toBe(0);
    expect(nodeHours(hours, "7d", start + 26 * hour)).toBeCloseTo(4);
    expect(nodeHours(hours, "7d", start + (7 * 24 + 0.5) * hour)).toBeCloseTo(2);
  });

  it("are not known for a gap, which is not idle", () => {
    const hours = createIdleHours(null);
    hours.add(step(start, start + hour, [{ nodes: 1 }]));
    hours.add(gap(start + hour, start + 7 * hour));
    hours.add(step(start + 7 * hour, start + 8 * hour, [{ nodes: 1 }]));
    expect(inWindow(hours, "24h", start + 8 * hour).coveredSeconds).toBe(2 * hour);
    expect(nodeHours(hours, "24h", start + 8 * hour)).toBe(2);
  });

  it("of a ring that went round hold nothing of the week before", () => {
    const hours = createIdleHours(null);
    hours.add(step(start, start + hour, [{ nodes: 9 }]));
    const later = start + 400 * hour;
    hours.add(gap(start + hour, later));
    expect(nodeHours(hours, "7d", later)).toBe(0);
    hours.add(step(later, later + hour, [{ nodes: 1 }]));
    expect(nodeHours(hours, "7d", later + hour)).toBe(1);
    expect(inWindow(hours, "7d", later + hour).coveredSeconds).toBe(hour);
  });

  it("forget what lies in the future when the clock is set back", () => {
    const hours = createIdleHours(null);
    hours.add(step(start + 1000 * hour, start + 1001 * hour, [{ nodes: 7 }]));
    hours.add(step(start, start + hour, [{ nodes: 1 }]));
    expect(nodeHours(hours, "7d", start + hour)).toBe(1);
    expect(inWindow(hours, "7d", start + hour).coveredSeconds).toBe(hour);
  });

  it("of more groups than anybody has count together", () => {
    const hours = createIdleHours(null);
    hours.add(
      step(
        start,
        start + hour,
        Array.from({ length: 2500 }, (_, i) => ({ nodes: 1, nodePool: `np-${i}` })),
      ),
    );
    const { times } = inWindow(hours, "24h", start + hour);
    expect(times.length).toBeLessThanOrEqual(2001);
    expect(nodeHours(hours, "24h", start + hour)).toBeCloseTo(2500);
  });
});

describe("after a restart", () => {
  it("what the ledger knows is there, folded days in equal parts", () => {
    const [first] = step(start + 23 * hour, start + 24 * hour, [{ nodes: 2 }]).nodeTimes;
    const hours = createIdleHours({
      intervals: [{ from: start, to: start + 24 * hour, seconds: 24 * hour, gap: null }],
      nodeTimes: first === undefined ? [] : [first],
    });
    expect(nodeHours(hours, "24h", start + 24 * hour)).toBeCloseTo(2);
    expect(inWindow(hours, "24h", start + 24 * hour).coveredSeconds).toBeCloseTo(24 * hour);
    hours.add(gap(start + 24 * hour, start + 30 * hour));
    hours.add(step(start + 30 * hour, start + 31 * hour, [{ nodes: 1 }]));
    expect(inWindow(hours, "24h", start + 31 * hour).coveredSeconds).toBeCloseTo(18 * hour);
    expect(nodeHours(hours, "24h", start + 31 * hour)).toBeCloseTo(3);
  });
});

describe("in every lifecycle", () => {
  const lifecycle = fc.array(
    fc.record({
      minutes: fc.integer({ min: 1, max: 600 }),
      nodes: fc.integer({ min: 0, max: 5 }),
      isGap: fc.boolean(),
    }),
    { minLength: 1, maxLength: 120 },
  );

  it("the windows at a full hour are the sums over their hours, whenever it restarted", () => {
    fc.assert(
      fc.property(lifecycle, fc.nat(120), (steps, restart) => {
        let hours = createIdleHours(null);
        const done: { from: number; to: number; nodes: number; isGap: boolean }[] = [];
        let at = start;
        for (const [i, { minutes, nodes, isGap }] of steps.entries()) {
          const to = at + minutes * 60;
          done.push({ from: at, to, nodes, isGap });
          hours.add(isGap ? gap(at, to) : step(at, to, [{ nodes }]));
          at = to;
          if (i === restart) hours = createIdleHours(ledgerOf(done));
        }
        const end = Math.ceil(at / hour) * hour;
        for (const name of ["24h", "7d"] as const) {
          const overlap = ({ from, to }: { from: number; to: number }): number =>
            Math.max(0, Math.min(to, end) - Math.max(from, end - idleWindows[name]));
          const covered = done.filter(({ isGap }) => !isGap);
          const idle = covered.reduce((sum, one) => sum + one.nodes * overlap(one), 0);
          expect(nodeHours(hours, name, end)).toBeCloseTo(idle / hour, 6);
          expect(inWindow(hours, name, end).coveredSeconds).toBeCloseTo(
            covered.reduce((sum, one) => sum + overlap(one), 0),
            4,
          );
        }
      }),
      { seed: 71, numRuns: 200 },
    );
  });
});

/** What a ledger would hand to the next process. */
function ledgerOf(done: readonly { from: number; to: number; nodes: number; isGap: boolean }[]) {
  const covered = done.filter(({ isGap }) => !isGap);
  return {
    intervals: covered.map(({ from, to }) => ({ from, to, seconds: to - from, gap: null })),
    nodeTimes: covered.flatMap(({ from, to, nodes }) => step(from, to, [{ nodes }]).nodeTimes),
  };
}
