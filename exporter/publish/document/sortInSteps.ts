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
  let runs: (readonly Keyed<Item>[])[] = [];
  for (let from = 0; from < items.length; from += itemsPerStep) {
    yield;
    const run = items.slice(from, from + itemsPerStep).map((item) => ({ keys: keysOf(item), item }));
    runs.push(run.sort(compareKeys));
  }
  while (runs.length > 1) {
    const merged: (readonly Keyed<Item>[])[] = [];
    for (let i = 0; i < runs.length; i += 2) merged.push(yield* merge(runs[i] ?? [], runs[i + 1] ?? []));
    runs = merged;
  }
  yield;
  return (runs[0] ?? []).map(({ item }) => item);
}

/** Merges two sorted runs of which the first comes first where they are alike. */
function* merge<Item>(first: readonly Keyed<Item>[], second: readonly Keyed<Item>[]): Steps<readonly Keyed<Item>[]> {
  const [last, next] = [first.at(-1), second[0]];
  if (last === undefined || next === undefined || compareKeys(last, next) <= 0) return first.concat(second);
  const merged: Keyed<Item>[] = [];
  let [i, k] = [0, 0];
  while (i < first.length || k < second.length) {
    if (merged.length % itemsPerStep === 0) yield;
    const [a, b] = [first[i], second[k]];
    if (a !== undefined && (b === undefined || compareKeys(a, b) <= 0)) {
      merged.push(a);
      i += 1;
    } else if (b !== undefined) {
      merged.push(b);
      k += 1;
    }
  }
  return merged;
}

function compareKeys(a: Keyed<unknown>, b: Keyed<unknown>): number {
  for (let i = 0; i < a.keys.length; i += 1) {
    const order = compareText(a.keys[i] ?? "", b.keys[i] ?? "");
    if (order !== 0) return order;
  }
  return 0;
}
