import {
  aggregate,
  arithmetic,
  type Expression,
  metric,
  secondsSince,
  where,
} from "../../exporter/catalogue/promql.ts";
import {
  byReplica,
  labelled,
  replicaLabels,
  scrapedTogether,
  topkBy,
  union,
} from "../../exporter/catalogue/promqlSeries.ts";
import { type Recordings, recorded } from "./recorded.ts";

/**
 * Weights in seconds: a source that is down counts more than any number of kinds that cannot be read, and one of these more
 * than years of running.
 */
const sourceDownSeconds = 1e10;
const kindFailingSeconds = 1e8;

/** The labels of the problem that a kind cannot be read. */
const kindFailing = { source: "kubernetes", code: "kind-failing" } as const;

/**
 * The seconds by which another replica must have covered more before it is read instead: more than scrapes and cycles can
 * differ.
 */
const preferredSeconds = 600;

/**
 * The replica that every other rule reads (docs/decisions/0014-which-replica-is-read.md): of those that serve a complete page
 * the one with the fewest sources down, then the one that fails to read the fewest kinds of the Kubernetes API, then the one
 * that was read before, then the one that has covered longest.
 */
export const replicaRecordings: Recordings<"cluster:fairlead_replica:rank" | "cluster:fairlead_replica:longest"> = {
  "cluster:fairlead_replica:rank": () => {
    const covered = metric("fairlead_covered_seconds_total");
    const down = arithmetic(arithmetic(metric("fairlead_source_up"), "-", 1), "*", sourceDownSeconds);
    // A failing kind is known immediately, but a source is down only when its last data is too old.
    const failing = arithmetic(metric("fairlead_problems", kindFailing), "*", -kindFailingSeconds);
    // This is the result of the previous evaluation; a label of its own distinguishes it from the seconds covered.
    const before = arithmetic(arithmetic(recorded("cluster:fairlead_replica:longest"), "*", 0), "+", preferredSeconds);
    const rank = byReplica("sum", union(union(union(failing, down), covered), labelled(before, "source", "before")));
    // A page that is too old has sources, but no seconds covered.
    return scrapedTogether(rank, covered, replicaLabels);
  },
  "cluster:fairlead_replica:longest": () => topkBy(1, recorded("cluster:fairlead_replica:rank"), ["cluster"]),
};

/** The number of replicas that are present, see the cluster, and have recently completed a cycle. */
export function workingReplicas(ageAboveSeconds: number): Expression<"cluster"> {
  const fresh = where(secondsSince(metric("fairlead_last_cycle_timestamp_seconds")), "<=", ageAboveSeconds);
  const seeing = where(metric("fairlead_source_up", { source: "kubernetes" }), "==", 1);
  const working = scrapedTogether(
    scrapedTogether(fresh, metric("fairlead_build_info"), replicaLabels),
    seeing,
    replicaLabels,
  );
  return aggregate("count", byReplica("max", working), ["cluster"]);
}
