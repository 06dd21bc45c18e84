import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { shows } from "./panel/shown.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";

/** What every replica needs of its machine, and what it costs Prometheus. */
export function processPanels({ query, page }: Tools): readonly PanelDraft[] {
  const links = [page("/", "What is wrong now, and what to do")];
  return [
    timeSeries({
      title: "Memory, by replica",
      meaning:
        "Resident memory of each replica. It rises with pods, GPUs and teams, then stays; a line that never stops rising is a leak, and worth a report.",
      unit: units.bytes,
      size: [12, 8],
      links,
      shows: [
        shows(query.recorded("cluster_instance_pod:fairlead_memory_bytes:sum"), "{{pod}} {{instance}} ({{cluster}})"),
      ],
    }),
    timeSeries({
      title: "CPU, by replica",
      meaning:
        "CPU of each replica, where 1 is one core in full use, and the part of it that goes to freeing memory. It works in one thread: near 1 it cannot become faster; if most of it frees memory, raise the memory limit.",
      unit: units.cores,
      size: [12, 8],
      links,
      shows: [
        shows(
          query.recorded("cluster_instance_pod:fairlead_cpu_cores:rate10m"),
          "all: {{pod}} {{instance}} ({{cluster}})",
        ),
        shows(
          query.recorded("cluster_instance_pod:fairlead_gc_cores:rate10m"),
          "freeing memory: {{pod}} {{instance}} ({{cluster}})",
        ),
      ],
    }),
    timeSeries({
      title: "Wait of requests (p99)",
      meaning:
        "Time that pages and questions of the API wait (99th percentile) while a replica computes. Below a second is fine. Metrics and probes do not wait for it.",
      unit: units.seconds,
      size: [12, 8],
      links,
      shows: [
        shows(
          query.recorded("cluster_instance_pod:fairlead_event_loop_lag_seconds:sum"),
          "{{pod}} {{instance}} ({{cluster}})",
        ),
      ],
    }),
    timeSeries({
      title: "Duration of scrapes",
      meaning:
        "Time that Prometheus needs to read the page of a replica. It must stay below the scrape timeout, 10 s where nothing else is set, or the page is lost.",
      unit: units.seconds,
      size: [12, 8],
      links,
      shows: [
        shows(query.recorded("cluster_instance_pod:fairlead_scrape_seconds:sum"), "{{pod}} {{instance}} ({{cluster}})"),
      ],
    }),
    timeSeries({
      title: "Series published",
      meaning:
        "Series on the page of each replica. It grows with teams, queues and pools, up to `limits.series`; what is above that is left out.",
      unit: units.count,
      size: [24, 8],
      links,
      shows: [
        shows(query.recorded("cluster_instance_pod:fairlead_page_series:sum"), "{{pod}} {{instance}} ({{cluster}})"),
      ],
    }),
  ];
}
