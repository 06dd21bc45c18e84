import fc from "fast-check";
import { expect, test } from "vitest";
import { createListBuilder } from "../../exporter/publish/document/listBuilder.ts";
import { by } from "../../exporter/publish/document/order.ts";
import { sortByTexts } from "../../exporter/publish/document/sortByTexts.ts";
import { smallMoment } from "./moment.ts";

test("sorting in steps is sorting, stable, over any number of runs", () => {
  const name = fc.constantFrom("a", "b", "", "ab", "é", "\uffff");
  fc.assert(
    fc.property(fc.array(fc.tuple(name, name), { maxLength: 40 }), fc.integer({ min: 1, max: 400 }), (few, times) => {
      const items = Array.from({ length: times }, () => few)
        .flat()
        .map(([one, other], index) => ({ one, other, index }));
      const keysOf = (item: (typeof items)[number]) => [item.one, item.other];
      expect(sortByTexts(items, keysOf)).toEqual(items.toSorted(by(keysOf)));
    }),
    { seed: 20260811, numRuns: 60 },
  );
});

test("who asks for a list while it is built gets the same one", async () => {
  const lists = createListBuilder(smallMoment);
  const [one, other] = await Promise.all([lists.devices(), lists.devices()]);
  expect(one).toBe(other);
  expect(await lists.devices()).toBe(one);
  expect(one.length).toBe(smallMoment.snapshot.devices.length);
});
