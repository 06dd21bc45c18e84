import { aggregate, call, type Expression, metric } from "../../exporter/catalogue/promql.ts";
import { replicaLabels } from "../../exporter/catalogue/promqlSeries.ts";
import { type Recordings, recorded } from "./recorded.ts";
import type { RecordedName } from "./recordedNames.ts";

type OfReplica = Expression<"cluster" | "instance" | "pod">;

/**
 * The metrics on the page of every Node.js program, and those that a server adds for each scrape. Fairlead gives the former its
 * `cluster`; the latter have one only where it was set on a server for several clusters (`external_labels`).
 */
export const scrapedNames = [
  "scrape_duration_seconds",
  "scrape_samples_scraped",
  "process_cpu_seconds_total",
  "process_resident_memory_bytes",
  "nodejs_eventloop_lag_p99_seconds",
  "nodejs_gc_duration_seconds_sum",
] as const;

type ScrapedName = (typeof scrapedNames)[number];
type ScrapedCounter = "process_cpu_seconds_total" | "nodejs_gc_duration_seconds_sum";

/** The resources that each replica needs of its machine, and its load on the server that scrapes it. */
export const processRecordings = {
  "cluster_instance_pod:fairlead_build_info:max": () =>
    call(
      aggregate("max", call<(typeof replicaLabels)[number]>(metric("fairlead_build_info").text), replicaLabels).text,
    ),
  "cluster_instance_pod:fairlead_memory_bytes:sum": () => ofReplicas("process_resident_memory_bytes"),
  "cluster_instance_pod:fairlead_cpu_cores:rate10m": () => rateOfReplicas("process_cpu_seconds_total"),
  "cluster_instance_pod:fairlead_gc_cores:rate10m": () => rateOfReplicas("nodejs_gc_duration_seconds_sum"),
  "cluster_instance_pod:fairlead_event_loop_lag_seconds:sum": () => ofReplicas("nodejs_eventloop_lag_p99_seconds"),
  "cluster_instance_pod:fairlead_scrape_seconds:sum": () => ofReplicas("scrape_duration_seconds"),
  "cluster_instance_pod:fairlead_page_series:sum": () => ofReplicas("scrape_samples_scraped"),
} satisfies Partial<Recordings<RecordedName>>;

function ofReplicas(name: Exclude<ScrapedName, ScrapedCounter>): OfReplica {
  return withCluster((matcher) => `${name}{${matcher}}`);
}

function rateOfReplicas(name: ScrapedCounter): OfReplica {
  return withCluster((matcher) => `rate(${name}{${matcher}}[10m])`);
}

/**
 * The series with the label `cluster`. Pods of two clusters have the same names, so a series with this label is matched by it,
 * too. One without it is joined with `fairlead_build_info`, which is 1 for each replica: that adds the label and changes no
 * number.
 */
function withCluster(having: (matcher: string) => string): OfReplica {
  const replicas = recorded("cluster_instance_pod:fairlead_build_info:max").text;
  const said = `(${having('cluster!=""')} and on (cluster, instance, pod) ${replicas})`;
  const unsaid = `(${having('cluster=""')} * on (instance, pod) group_left (cluster) ${replicas})`;
  return call(`sum by (cluster, instance, pod) (${said} or ${unsaid})`);
}
