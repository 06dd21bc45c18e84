import type { ServingRecord } from "../../../exporter/model/serving.ts";

/** A record in which counters have no keys: a page and a server name them differently. */
export function withCountedValues<Record extends ServingRecord>({ counters = [], latencies = [], ...record }: Record) {
  const measured = latencies.map(({ of, bound, value }) => `${of} ${bound} ${value}`).sort();
  return { ...record, measured, counted: counters.map(({ counts, value }) => `${counts} ${value}`).sort() };
}
