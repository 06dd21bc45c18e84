import { compareText } from "../../kernel/compareText.ts";

/** Seconds since the epoch as text in UTC; `null` for times that are unknown, or outside of the years 0 to 9999. */
export function instant(seconds: number | null): string | null {
  if (seconds === null || !(Math.abs(seconds) < 8.64e12)) return null;
  const date = new Date(seconds * 1000);
  return date.getUTCFullYear() >= 0 && date.getUTCFullYear() <= 9999 ? date.toISOString() : null;
}

/** Seconds since the epoch as text in UTC; the beginning of the epoch in place of times outside of the years 0 to 9999. */
export function momentOf(at: number): string {
  return instant(at) ?? new Date(0).toISOString();
}

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
