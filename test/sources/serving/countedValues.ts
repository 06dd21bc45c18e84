import type { ServingRecord } from "../../../exporter/model/serving.ts";

/** A record in which counters have no keys: a page and a server name them differently. */
export function withCountedValues<Record extends ServingRecord>({ counters = [], ...record }: Record) {
  return { ...record, counted: counters.map(({ counts, value }) => `${counts} ${value}`).sort() };
}
