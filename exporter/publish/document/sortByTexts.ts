import { compareText } from "../../kernel/compareText.ts";

interface Keyed<Item> {
  readonly keys: readonly string[];
  readonly item: Item;
}

/** Sorts by several texts; the first that differs decides. Items that are alike keep their order. */
export function sortByTexts<Item>(items: readonly Item[], keysOf: (item: Item) => readonly string[]): readonly Item[] {
  const keyed = items.map((item) => ({ keys: keysOf(item), item }));
  return keyed.sort(compareKeys).map(({ item }) => item);
}

function compareKeys(a: Keyed<unknown>, b: Keyed<unknown>): number {
  for (let i = 0; i < a.keys.length; i += 1) {
    const order = compareText(a.keys[i] ?? "", b.keys[i] ?? "");
    if (order !== 0) return order;
  }
  return 0;
}
