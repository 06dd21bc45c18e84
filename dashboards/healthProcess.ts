import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { shows } from "./panel/shown.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";
import { ofReplicas, rateOfReplicas } from "./query/scraped.ts";

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
