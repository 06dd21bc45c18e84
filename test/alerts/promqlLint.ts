import { recordedLabels } from "../../alerts/rules/recordedNames.ts";
import { definitionOf, metricNames } from "../../exporter/catalogue/catalogue.ts";
import { readPromql } from "./promqlTree.ts";

/** Series -> its labels, of the catalogue. */
export const catalogued: ReadonlyMap<string, readonly string[]> = new Map(
  metricNames.flatMap((name): [string, readonly string[]][] => {
    const { type, labels } = definitionOf(name);
    if (type !== "histogram") return [[name, labels]];
    return [
      [`${name}_bucket`, [...labels, "le"]],
      [`${name}_sum`, labels],
      [`${name}_count`, labels],
    ];
  }),
);

/** Series -> its labels, of the recording rules. */
export const recorded: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(recordedLabels));

/** What is wrong with the grammar, the series and the labels of an expression; `more`: other series that it may read. */
export function wrongSeries(text: string, more: ReadonlyMap<string, readonly string[]> = new Map()): readonly string[] {
  const { errors, selectors } = readPromql(text);
  const grammar = errors > 0 ? ["is no PromQL"] : [];
  if (selectors.length === 0) return [...grammar, "reads no series"];
  const wrong = selectors.flatMap(({ name, labels }) => {
    const known = catalogued.get(name) ?? recorded.get(name) ?? more.get(name);
    if (known === undefined) return [`${name} is neither in the catalogue nor recorded`];
    return labels.filter((label) => !known.includes(label)).map((label) => `${name} has no label ${label}`);
  });
  return [...grammar, ...wrong];
}

/** Counters that an expression asks for anything but their rise. */
export function countersNotAskedForRise(text: string): readonly string[] {
  return readPromql(text).selectors.flatMap(({ name, rangeFunction }) => {
    const isCounter = /_(total|bucket|sum|count)$/.test(name) && catalogued.has(name);
    return isCounter && rangeFunction !== "rate" && rangeFunction !== "increase" ? [name] : [];
  });
}

/** Divisors that could be 0. */
export function doubtfulDivisors(text: string): readonly string[] {
  return [...text.matchAll(/ \/ (?:on \([^)]*\) )?(?:group_left \(\) )?(?=(.*))/g)]
    .map(([, divisor]) => divisor ?? "")
    .filter((divisor) => !/^[1-9]/.test(divisor) && !isAboveZero(divisor));
}

/** Whether a text begins with a parenthesis that ends in `> 0`. */
function isAboveZero(text: string): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === "(") depth += 1;
    if (text[index] === ")") depth -= 1;
    if (depth === 0) return text.slice(0, index).endsWith(" > 0");
  }
  return false;
}
