import { compareText } from "../../kernel/compareText.ts";

/** Sorts by several texts, the first that differs decides. */
export function by<Item>(keysOf: (item: Item) => readonly string[]): (a: Item, b: Item) => number {
  return (a, b) => {
    const keysOfB = keysOf(b);
    for (const [index, key] of keysOf(a).entries()) {
      const order = compareText(key, keysOfB[index] ?? "");
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** Seconds since the epoch as text in UTC; `null` for times that are unknown or cannot be. */
export function instant(seconds: number | null): string | null {
  if (seconds === null || !(Math.abs(seconds) < 8.64e12)) return null;
  const date = new Date(seconds * 1000);
  return date.getUTCFullYear() >= 0 && date.getUTCFullYear() <= 9999 ? date.toISOString() : null;
}

/** When it was, in UTC. */
export function momentOf(at: number): string {
  return instant(at) ?? new Date(0).toISOString();
}
