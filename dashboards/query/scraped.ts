import { call, type Expression, matches, metric, operand, type Window } from "../../exporter/catalogue/promql.ts";
import { narrowed } from "../../exporter/catalogue/promqlSeries.ts";

/**
 * What is on the page of every Node.js program, and what a server notes of each scrape. Fairlead gives the former its
 * `cluster`; the latter have one only where a server that holds several clusters was reported it (`external_labels`).
 */
export const scrapedNames = [
  "up",
  "scrape_duration_seconds",
  "scrape_samples_scraped",
  "process_cpu_seconds_total",
  "process_resident_memory_bytes",
  "nodejs_eventloop_lag_p99_seconds",
  "nodejs_gc_duration_seconds_sum",
] as const;

export type ScrapedName = (typeof scrapedNames)[number];
export type ScrapedCounter = "process_cpu_seconds_total" | "nodejs_gc_duration_seconds_sum";

/** A number of every replica of the chosen clusters, with the `cluster` that its Fairlead says. */
export function ofReplicas(name: Exclude<ScrapedName, ScrapedCounter>): Expression<"cluster" | "pod" | "instance"> {
  return withCluster((selector) => `${name}{${selector}}`);
}

/** How fast a counter of every replica rises a second. */
export function rateOfReplicas(name: ScrapedCounter, window: Window): Expression<"cluster" | "pod" | "instance"> {
  return withCluster((selector) => `rate(${name}{${selector}}[${window}])`);
}

/**
 * Pods of two clusters have the same names, so a number that says its cluster is looked up with it. One that does not is joined
 * with `fairlead_build_info`, which is 1 for each replica: that adds a label and changes no number.
 */
function withCluster(chosen: (selector: string) => string): Expression<"cluster" | "pod" | "instance"> {
  const info = narrowed(metric("fairlead_build_info"), [["cluster", matches("$cluster")]]);
  const one = `max by (cluster, instance, pod) (${operand(info)})`;
  const said = `(${chosen('cluster=~"$cluster"')} and on (cluster, instance, pod) ${one})`;
  const unsaid = `(${chosen('cluster=""')} and on (instance, pod) ${one})`;
  const joined = `(${unsaid} * on (instance, pod) group_left (cluster) ${one})`;
  return call(`sum by (cluster, instance, pod) (${said} or ${joined})`);
}
