import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  proportionDeserved,
  type VolcanoShareInput,
  volcanoShare,
} from "../../../exporter/analysis/schedulerViews/volcanoDeserved.ts";

const queue = (weight: number, request: number, changes: Partial<VolcanoShareInput> = {}): VolcanoShareInput => ({
  weight,
  request,
  guarantee: 0,
  realCapability: Number.POSITIVE_INFINITY,
  ...changes,
});

describe("Volcano's proportion", () => {
  it("follows weights, and hands on what one does not ask for", () => {
    expect(proportionDeserved([queue(1, 100), queue(3, 100)], 40)).toEqual([10, 30]);
    expect(proportionDeserved([queue(1, 100), queue(3, 10)], 40)).toEqual([30, 10]);
  });

  it("stops at the capability and begins at the guarantee", () => {
    expect(proportionDeserved([queue(1, 100, { realCapability: 5 }), queue(1, 100)], 40)).toEqual([5, 35]);
    expect(proportionDeserved([queue(1, 100, { guarantee: 30 }), queue(1, 100)], 40)[0]).toBe(30);
  });

  it("queues without work take no part", () => {
    expect(proportionDeserved([queue(5, 0, { guarantee: 8 }), queue(1, 100)], 40)).toEqual([0, 40]);
  });

  it("never deserves more than request and guarantee, and gives out all that is asked for", () => {
    const input = fc.array(
      fc.record({ weight: fc.integer({ min: 1, max: 9 }), request: fc.integer({ min: 0, max: 50 }) }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(input, fc.integer({ min: 0, max: 100 }), (queues, total) => {
        const deserved = proportionDeserved(
          queues.map(({ weight, request }) => queue(weight, request)),
          total,
        );
        for (const [i, amount] of deserved.entries())
          expect(amount).toBeLessThanOrEqual((queues[i]?.request ?? 0) + 1e-6);
        const asked = queues.reduce((sum, { request }) => sum + request, 0);
        expect(deserved.reduce((sum, amount) => sum + amount, 0)).toBeCloseTo(Math.min(total, asked), 6);
      }),
      { seed: 1, numRuns: 2000 },
    );
  });
});

it("a share of nothing is 0 for nobody and 1 for whoever holds something", () => {
  expect([volcanoShare(0, 0), volcanoShare(3, 0), volcanoShare(3, 6)]).toEqual([0, 1, 0.5]);
});
