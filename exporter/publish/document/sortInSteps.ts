import { sortedInSteps } from "../../kernel/sortedInSteps.ts";
import type { Steps } from "../../kernel/steps.ts";
import { compareText } from "./order.ts";

interface Keyed<Item> {
  readonly keys: readonly string[];
  readonly item: Item;
}

const itemsPerStep = 4000;

/** Sorts by several texts with pauses; the first that differs decides. Items that are alike keep their order. */
export function* sortInSteps<Item>(
  items: readonly Item[],
  keysOf: (item: Item) => readonly string[],
): Steps<readonly Item[]> {
  const keyed: Keyed<Item>[] = [];
  for (const [i, item] of items.entries()) {
    if (i % itemsPerStep === itemsPerStep - 1) yield;
    keyed.push({ keys: keysOf(item), item });
  }
  const sorted = yield* sortedInSteps(keyed, compareKeys);
  return sorted.map(({ item }) => item);
}

function compareKeys(a: Keyed<unknown>, b: Keyed<unknown>): number {
  for (let i = 0; i < a.keys.length; i += 1) {
    const order = compareText(a.keys[i] ?? "", b.keys[i] ?? "");
    if (order !== 0) return order;
  }
  return 0;
}
