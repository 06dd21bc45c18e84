import { createTupleInterner } from "../../kernel/tupleInterner.ts";

/** A sample whose value is known. */
interface Known<Labels> {
  readonly labels: Labels;
  readonly value: number;
}

/**
 * One sample for each set of labels, in the order in which they come up: values are added up, or combined otherwise. All
 * samples name their labels in the same order.
 */
export function combined<Labels extends Readonly<Record<string, string>>>(
  samples: Iterable<Known<Labels>>,
  combine: (one: number, other: number) => number = (one, other) => one + other,
): readonly Known<Labels>[] {
  const ids = createTupleInterner();
  const found: Known<Labels>[] = [];
  for (const { labels, value } of samples) {
    const id = ids.idOf(Object.values(labels));
    const known = found[id];
    found[id] = { labels, value: known === undefined ? value : combine(known.value, value) };
  }
  return found;
}
