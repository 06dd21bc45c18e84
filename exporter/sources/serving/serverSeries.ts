import type { JsonRecord } from "../../kernel/parseJson.ts";
import type { Pod } from "../../model/pod.ts";
import type { ServingPage } from "../../model/serving.ts";
import { labelOf, matcherTexts, queryUrl, readSeries } from "../http/prometheusApi.ts";
import { addSample, boundIn, type NamedSeries, servingRecord } from "./readPage.ts";
import { copyLabels, servingMetrics } from "./servers.ts";

/** One instant query for all series of servers, with their labels. Which series are copies is decided as for a scraped page. */
export function servingQuery(matchers: Readonly<Record<string, string>>): string {
  const names = servingMetrics.map(({ name }) => name).join("|");
  return `{${[`__name__=~"${names}"`, ...matcherTexts(matchers)].join(",")}}`;
}

/** The URL of the query. The server is asked to give up when nobody waits any more. */
export function servingUrl(base: string, matchers: Readonly<Record<string, string>>, timeoutSeconds: number): string {
  const query = encodeURIComponent(servingQuery(matchers));
  return queryUrl(base, "query", `query=${query}&timeout=${Math.ceil(timeoutSeconds)}s`);
}

/**
 * Labels that a server adds and that distinguish scrapes of one page, not numbers: two jobs that scrape a pod, or two servers
 * behind one, make copies. `instance` is not among them: a pod with two ports has two servers.
 */
const scrapeLabels: ReadonlySet<string> = new Set([
  "__name__",
  "namespace",
  "pod",
  "job",
  "container",
  "endpoint",
  "service",
  "cluster",
  "prometheus",
  "prometheus_replica",
  "replica",
  "node",
]);

/** The part of a pod that is needed to find it by the labels of a series. */
type KnownPod = Pick<Pod, "uid" | "namespace" | "name">;

/** The greatest number of series of one answer: 10,000 servers of twenty each. */
const maxSeries = 200_000;

/** The pages in an answer, and the counts of what could not be used. */
export interface SeriesPages {
  readonly pages: readonly ServingPage[];
  /** Number of series that do not have the form of one, or that were too many. */
  readonly unread: number;
  /** Number of series whose labels `namespace` and `pod` name no pod that holds or requests GPUs. */
  readonly ofOthers: number;
}

/**
 * Combines the series of a vector into the pages of pods, which the target labels `namespace` and `pod` name. A series of
 * another pod is left out. Never throws, whatever the series are.
 */
export function pagesOfSeries(result: readonly unknown[], pods: readonly KnownPod[], at: number): SeriesPages {
  const uids = new Map(pods.map(({ namespace, name, uid }) => [`${namespace}/${name}`, uid] as const));
  const found = new Map<string, Map<string, NamedSeries>>();
  let unread = Math.max(0, result.length - maxSeries);
  let ofOthers = 0;
  for (const entry of result.slice(0, maxSeries)) {
    const series = readSeries(entry);
    const name = series === null ? null : labelOf(series.metric, "__name__");
    if (series === null || name === null) {
      unread += 1;
      continue;
    }
    const { metric, value } = series;
    const uid = uids.get(`${labelOf(metric, "namespace") ?? ""}/${labelOf(metric, "pod") ?? ""}`);
    if (uid === undefined) {
      ofOthers += 1;
      continue;
    }
    const ofPod = found.get(uid) ?? new Map<string, NamedSeries>();
    found.set(uid, ofPod);
    const bound = boundIn(labelOf(metric, "le") ?? "");
    const sleepState = labelOf(metric, "sleep_state") || null;
    addSample(ofPod, name, { text: textOf(metric), sleepState, bound }, value);
  }
  const pages = [...found].flatMap(([pod, ofPod]): readonly ServingPage[] => {
    const record = servingRecord(ofPod);
    return record === null ? [] : [{ ...record, pod, receivedAt: at }];
  });
  return { pages, unread, ofOthers };
}

/** The text that distinguishes one series of a metric from the others. */
function textOf(metric: JsonRecord): string {
  const kept = Object.keys(metric).filter((name) => !scrapeLabels.has(name) && !copyLabels.has(name));
  return JSON.stringify(kept.sort().map((name) => [name, metric[name]]));
}
