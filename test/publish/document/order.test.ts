import fc from "fast-check";
import { expect, test } from "vitest";
import { compareText } from "../../../exporter/kernel/compareText.ts";
import { createListBuilder } from "../../../exporter/publish/document/listBuilder.ts";
import { sortByTexts } from "../../../exporter/publish/document/order.ts";
import { smallMoment } from "../moment.ts";

/** The plain way: keys are made anew for each comparison. */
const by =
  <Item>(keysOf: (item: Item) => readonly string[]) =>
  (a: Item, b: Item): number =>
    keysOf(a)
      .map((key, i) => compareText(key, keysOf(b)[i] ?? ""))
      .find((order) => order !== 0) ?? 0;

test("sorting by texts is sorting by the first that differs, and stable", () => {
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

test("a list is built once", () => {
  const lists = createListBuilder(smallMoment);
  const devices = lists.devices();
  expect(lists.devices()).toBe(devices);
  expect(devices.length).toBe(smallMoment.snapshot.devices.length);
});
