import { call, type Expression, matches, metric, operand, type Window } from "../exporter/catalogue/promql.ts";
import { narrowed } from "../exporter/catalogue/promqlSeries.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { shows } from "./panel/shown.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";

/** What every replica needs of its machine, and what it costs Prometheus. */
export function processPanels({ page }: Tools): readonly PanelDraft[] {
  const links = [page("/", "What is wrong now, and what to do")];
  return [
    timeSeries({
      title: "How much memory does it take?",
      meaning:
        "Resident memory of each replica. It rises with pods, GPUs and teams, then stays; a line that never stops rising is a leak, and worth a report.",
      unit: units.bytes,
      size: [12, 8],
      links,
      shows: [shows(ofReplicas("process_resident_memory_bytes"), "{{pod}} {{instance}} ({{cluster}})")],
    }),
    timeSeries({
      title: "How much CPU does it take?",
      meaning:
        "CPU of each replica, where 1 is one core in full use, and the part of it that goes to freeing memory. It works in one thread: near 1 it cannot become faster; if most of it frees memory, raise the memory limit.",
      unit: units.cores,
      size: [12, 8],
      links,
      shows: [
        shows(
          rateOfReplicas("process_cpu_seconds_total", "$__rate_interval"),
          "all: {{pod}} {{instance}} ({{cluster}})",
        ),
        shows(
          rateOfReplicas("nodejs_gc_duration_seconds_sum", "$__rate_interval"),
          "freeing memory: {{pod}} {{instance}} ({{cluster}})",
        ),
      ],
    }),
    timeSeries({
      title: "How long do questions have to wait?",
      meaning:
        "Time that pages and questions of the API wait (99th percentile) while a replica computes. Below a second is fine. Metrics and probes do not wait for it.",
      unit: units.seconds,
      size: [12, 8],
      links,
      shows: [shows(ofReplicas("nodejs_eventloop_lag_p99_seconds"), "{{pod}} {{instance}} ({{cluster}})")],
    }),
    timeSeries({
      title: "How long does a scrape take?",
      meaning:
        "Time that Prometheus needs to read the page of a replica. It must stay below the scrape timeout, 10 s where nothing else is set, or the page is lost.",
      unit: units.seconds,
      size: [12, 8],
      links,
      shows: [shows(ofReplicas("scrape_duration_seconds"), "{{pod}} {{instance}} ({{cluster}})")],
    }),
    timeSeries({
      title: "How many series does it publish?",
      meaning:
        "Series on the page of each replica. It grows with teams, queues and pools, up to `limits.series`; what is above that is left out.",
      unit: units.count,
      size: [24, 8],
      links,
      shows: [shows(ofReplicas("scrape_samples_scraped"), "{{pod}} {{instance}} ({{cluster}})")],
    }),
  ];
}

/**
 * What is on the page of every Node.js program, and what a server notes of each scrape. Fairlead gives the former its
 * `cluster`; the latter have one only where a server that holds several clusters was given it (`external_labels`).
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

type ScrapedName = (typeof scrapedNames)[number];
type ScrapedCounter = "process_cpu_seconds_total" | "nodejs_gc_duration_seconds_sum";

/** A number of every replica of the chosen clusters, with the `cluster` that its Fairlead says. */
function ofReplicas(name: Exclude<ScrapedName, ScrapedCounter>): Expression<"cluster" | "pod" | "instance"> {
  return withCluster((selector) => `${name}{${selector}}`);
}

/** How fast a counter of every replica rises a second. */
function rateOfReplicas(name: ScrapedCounter, window: Window): Expression<"cluster" | "pod" | "instance"> {
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
