import { definitionOf, type MetricName, metricNames } from "../../catalogue/catalogue.ts";
import type { Unit } from "../../catalogue/metric.ts";

/**
 * UCUM code of a unit, and the word that says it in a Prometheus name. A code is sent only with a name that has the
 * word: receivers that append the word where it is missing would else call the series something that `/metrics` does not
 * (docs/decisions/0007).
 */
const spelled: Readonly<Partial<Record<Unit, { readonly code: string; readonly word: string }>>> = {
  seconds: { code: "s", word: "seconds" },
  bytes: { code: "By", word: "bytes" },
  watts: { code: "W", word: "watts" },
  joules: { code: "J", word: "joules" },
  ratio: { code: "1", word: "ratio" },
};

/** UCUM annotations: they say what is counted, and no receiver puts them into a name. */
const annotated: Readonly<Partial<Record<Unit, string>>> = {
  gpus: "{gpu}",
  nodes: "{node}",
  gpu_seconds: "s{gpu}",
  node_seconds: "s{node}",
};

/** The unit of a metric, by the Unified Code for Units of Measure; empty where there is none. */
export function ucumUnit(name: string, unit: Unit): string {
  const word = spelled[unit];
  if (word !== undefined) return name.split("_").includes(word.word) ? word.code : "";
  return annotated[unit] ?? "";
}

/** Units of the catalogue's metrics, by name. */
export const ucumUnits: ReadonlyMap<string, string> = new Map(
  metricNames.map((name: MetricName) => [name, ucumUnit(name, definitionOf(name).unit)]),
);
