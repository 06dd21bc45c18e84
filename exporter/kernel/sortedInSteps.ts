import type { Steps } from "./steps.ts";

const itemsPerStep = 4000;

/** Sorts with pauses; items that are alike keep their order. What is in order already costs one pass. */
export function* sortedInSteps<Item>(
  items: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Steps<readonly Item[]> {
  let runs: (readonly Item[])[] = [];
  for (let from = 0; from < items.length; from += itemsPerStep) {
    yield;
    runs.push(items.slice(from, from + itemsPerStep).sort(compare));
  }
  while (runs.length > 1) {
    const merged: (readonly Item[])[] = [];
    for (let i = 0; i < runs.length; i += 2)
      merged.push(yield* mergeInSteps(runs[i] ?? [], runs[i + 1] ?? [], compare));
    runs = merged;
  }
  yield;
  return runs[0] ?? [];
}

/** Merges two sorted lists, of which the first comes first where items are alike. */
export function* mergeInSteps<Item>(
  first: readonly Item[],
  second: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Steps<readonly Item[]> {
  const [last, next] = [first.at(-1), second[0]];
  if (last === undefined || next === undefined || compare(last, next) <= 0) return first.concat(second);
  const merged: Item[] = [];
  let [i, k] = [0, 0];
  while (i < first.length || k < second.length) {
    if (merged.length % itemsPerStep === 0) yield;
    const [a, b] = [first[i], second[k]];
    if (a !== undefined && (b === undefined || compare(a, b) <= 0)) {
      merged.push(a);
      i += 1;
    } else if (b !== undefined) {
      merged.push(b);
      k += 1;
    }
  }
  return merged;
}
