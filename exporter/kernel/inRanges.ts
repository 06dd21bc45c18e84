// Needed for the goal `cycle` (docs/performance.md).

/** Something that is added up over a long list, one range of indices after the other. */
export interface RangeSum {
  /** Adds what is at the indices from `from` to before `to`. */
  addRange(from: number, to: number): void;
}

const rangeLength = 512;

/**
 * Adds all of a list to a sum, range by range. It is the same as one loop over the list, but not for V8: a function that is
 * called once in each cycle and loops for long is compiled while it runs, and that code is dropped with the next full
 * collection of garbage. A method that is called often keeps its code, as long as `keepShape` keeps the shape of its object.
 */
export function inRanges(length: number, sum: RangeSum): void {
  for (let from = 0; from < length; from += rangeLength) sum.addRange(from, Math.min(length, from + rangeLength));
}

const examples: object[] = [];

/**
 * Keeps an example of a class whose objects live for a part of a cycle only. A full collection of garbage that finds none of
 * them forgets their shape, and with it all code that was compiled for it: at 10,000 nodes it was compiled again after each
 * collection, which took a third of the CPU time of analysing and accounting.
 */
export function keepShape(example: object): void {
  examples.push(example);
}
