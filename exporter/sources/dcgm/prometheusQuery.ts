import { matcherTexts, queryUrl } from "../http/prometheusApi.ts";
import { dialects, labelRoles } from "./dialects.ts";

/** What decides which series are asked for. */
export interface QueryScope {
  /** Labels with the exact values that a series must have, to select one cluster of many or one job of several. */
  readonly matchers: Readonly<Record<string, string>>;
  /** A further label to ask for: the one that names the node. */
  readonly nodeLabel: string | null;
}

/** The label and value that mark the series of the answer whose value is the time of a row's newest sample. */
export const timeMark = { label: "fairlead", value: "sample_time" } as const;

/** Labels that distinguish the scrapes of one exporter, so that two of them are never mixed into one row. */
const originLabels = ["instance", "job", "cluster", "prometheus", "prometheus_replica", "replica"] as const;

/** All labels that an answer carries. Other labels (a pod's own, driver, bus, service) are left out by the query. */
export function reportedLabels(scope: QueryScope): readonly string[] {
  const names = dialects.flatMap(({ labels }) => labelRoles.flatMap((role) => labels[role]));
  return [...new Set([...names, ...originLabels, ...(scope.nodeLabel === null ? [] : [scope.nodeLabel])])];
}

/** The metric names that are asked for: those whose values are read. */
export const askedMetrics: readonly string[] = dialects.flatMap(({ metrics }) => metrics.map(({ name }) => name));

/**
 * One instant query for values and their times. An instant vector holds the newest sample of each series that is not stale, at
 * most five minutes old, and gives the moment of the evaluation as its time, so that a frozen value looks fresh. Therefore the
 * answer also has, for each set of labels, one series (with `timeMark`) whose value is `timestamp()`: the time at which that
 * row was really scraped. `timestamp()` drops the metric's name and needs a plain selector, hence one call for each name. A
 * range selector would have given the times without a second part, but it ignores staleness: rows of a pod that has ended would
 * be beside those of its successor. `max by` drops the labels that nobody reads before they are sent; what it merges are copies
 * of one sample.
 */
export function telemetryQuery(scope: QueryScope): string {
  const labels = reportedLabels(scope).join(",");
  const matchers = matcherTexts(scope.matchers);
  const named = [`__name__=~"${askedMetrics.join("|")}"`, ...matchers].join(",");
  const only = matchers.length === 0 ? "" : `{${matchers.join(",")}}`;
  const times = askedMetrics.map((name) => `timestamp(${name}${only})`).join(" or ");
  return (
    `max by(__name__,${labels})({${named}})` +
    ` or label_replace(max by(${labels})(${times}),"${timeMark.label}","${timeMark.value}","","")`
  );
}

/** The URL of the query. The server is asked to give up when nobody waits any more. */
export function telemetryUrl(base: string, scope: QueryScope, timeoutSeconds: number): string {
  // A comma is allowed in a query as it is. Escaping all of them would make the URL a sixth longer.
  const query = encodeURIComponent(telemetryQuery(scope)).replaceAll("%2C", ",");
  return queryUrl(base, "query", `query=${query}&timeout=${Math.ceil(timeoutSeconds)}s`);
}
