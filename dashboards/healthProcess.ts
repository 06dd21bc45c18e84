import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { type Shown, shows } from "./panel/shown.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { type Unit, units } from "./panel/units.ts";

/** What every replica needs of its machine, and its load on Prometheus. */
export function processPanels({ query, page }: Tools): readonly PanelDraft[] {
  const links = [page("/", "What is wrong now, and what to do")];
  const replica = "{{pod}} {{instance}} ({{cluster}})";
  const panel = (title: string, unit: Unit, meaning: string, ...shown: readonly Shown[]): PanelDraft =>
    timeSeries({ title, meaning, unit, size: [12, 8], links, shows: shown });
  return [
    panel(
      "Memory, by replica",
      units.bytes,
      "Resident memory of each replica. It rises with pods, GPUs and teams, then stays; a line that never stops rising is a leak, and worth a report.",
      shows(query.recorded("cluster_instance_pod:fairlead_memory_bytes:sum"), replica),
    ),
    panel(
      "CPU, by replica",
      units.cores,
      "CPU of each replica, where 1 is one core in full use, and the part of it that goes to freeing memory. It works in one thread: near 1 it cannot become faster; if most of it frees memory, raise the memory limit.",
      shows(query.recorded("cluster_instance_pod:fairlead_cpu_cores:rate10m"), `all: ${replica}`),
      shows(query.recorded("cluster_instance_pod:fairlead_gc_cores:rate10m"), `freeing memory: ${replica}`),
    ),
    panel(
      "Wait of requests (p99)",
      units.seconds,
      "Time that pages and questions of the API wait (99th percentile) while a replica computes. Below a second is fine. Metrics and probes do not wait for it.",
      shows(query.recorded("cluster_instance_pod:fairlead_event_loop_lag_seconds:sum"), replica),
    ),
    panel(
      "Duration of scrapes",
      units.seconds,
      "Time that Prometheus needs to read the page of a replica. It must stay below the scrape timeout, 10 s where nothing else is set, or the page is lost.",
      shows(query.recorded("cluster_instance_pod:fairlead_scrape_seconds:sum"), replica),
    ),
    {
      ...panel(
        "Series published",
        units.count,
        "Series on the page of each replica. It grows with teams, queues and pools, up to `limits.series`; what is above that is left out.",
        shows(query.recorded("cluster_instance_pod:fairlead_page_series:sum"), replica),
      ),
      size: [24, 8],
    },
  ];
}
