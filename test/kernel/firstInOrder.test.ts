import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstInOrder } from "../../exporter/kernel/firstInOrder.ts";

describe("the first items in an order", () => {
  it("are those of the whole sorted list, equal ones in their order", () => {
    const items = fc.array(fc.record({ rank: fc.integer({ min: 0, max: 5 }), id: fc.integer() }), { maxLength: 40 });
    fc.assert(
      fc.property(items, fc.integer({ min: 0, max: 12 }), (all, count) => {
        const order = (a: { readonly rank: number }, b: { readonly rank: number }) => a.rank - b.rank;
        expect(firstInOrder(all, count, order)).toEqual(all.toSorted(order).slice(0, count));
      }),
    );
  });
});
