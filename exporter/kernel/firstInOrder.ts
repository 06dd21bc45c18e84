// Needed for the goal `advice-quiet` (docs/performance.md).

/**
 * The first `count` items in an order, sorted: the same as sorting all of them, but most items are compared only once. Items of
 * equal rank keep their order.
 */
export function firstInOrder<Item>(
  items: Iterable<Item>,
  count: number,
  order: (a: Item, b: Item) => number,
): readonly Item[] {
  const first: Item[] = [];
  for (const item of items) {
    const last = first[count - 1];
    if (count <= 0 || (last !== undefined && order(item, last) >= 0)) continue;
    let [low, high] = [0, first.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = first[middle];
      if (other !== undefined && order(item, other) >= 0) low = middle + 1;
      else high = middle;
    }
    first.splice(low, 0, item);
    if (first.length > count) first.pop();
  }
  return first;
}
