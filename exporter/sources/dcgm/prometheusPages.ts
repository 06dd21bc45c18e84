import type { Problem } from "../../model/problem.ts";
import type { TelemetryPage } from "../../model/telemetry.ts";
import type { DiscoveredPod } from "./discover.ts";
import { readOnce } from "./pageReader.ts";
import type { PageLimits } from "./pageShape.ts";
import { nodeNamer, podOf } from "./prometheusNodes.ts";
import * as problems from "./prometheusProblems.ts";
import { askedMetrics } from "./prometheusQuery.ts";
import type { ServerRow, ServerRows } from "./prometheusRows.ts";

/** What is known besides the answer. */
export interface AnswerContext {
  /** URL of the server without credentials. */
  readonly server: string;
  readonly nodeLabel: string | null;
  /** The exporter pods that the Kubernetes API shows. */
  readonly exporters: readonly DiscoveredPod[];
  /** Pods that look like exporters and are not believed. */
  readonly rejected?: readonly DiscoveredPod[];
  /** Names of all nodes; `null` while they are not known. */
  readonly knownNodes: ReadonlySet<string> | null;
  readonly maxSampleAgeSeconds: number;
  /** The time when the answer came, seconds since the epoch. */
  readonly at: number;
  readonly limits?: Partial<PageLimits> | undefined;
}

/** Pages by the node that they speak for. */
export interface ServerPages {
  readonly byNode: ReadonlyMap<string, readonly TelemetryPage[]>;
  readonly problems: readonly Problem[];
}

/** The rows of one scrape: one node at one moment. */
interface Scrape {
  readonly node: string;
  readonly ageSeconds: number;
  readonly rows: ServerRow[];
}

/** Rows by scrape, and those that belong to none. */
interface Sorted {
  readonly scrapes: readonly Scrape[];
  readonly old: readonly ServerRow[];
  readonly nameless: number;
  readonly unknownNodes: readonly string[];
}

/** The most problems of single pages that are listed. */
const maxPageProblems = 20;

/**
 * Turns the rows of an answer into pages, one for each scrape of a node, as if it had been fetched then. All samples of a
 * scrape have one time stamp, so two jobs (or two replicas of a server) that scrape the same exporter make two pages, and the
 * join takes the readings of the newer one; if both scraped within the same millisecond, they make one page. Rows older than
 * the limit are no readings. Each scrape is written as the text that an exporter would have written, and is then read like
 * every other page. Pure.
 */
export function pagesOfRows(found: ServerRows, context: AnswerContext): ServerPages {
  const { limits } = context;
  const sorted = sortRows(found.rows, context);
  const targetPods = targetPodsOf(sorted.scrapes, context.exporters);
  const read = sorted.scrapes.map(({ node, ageSeconds, rows }) => {
    const options = { target: context.server, node, origin: "prometheus", splitsByHost: false, limits } as const;
    return { node, ...readOnce(pageText(rows, targetPods), options, context.at - ageSeconds) };
  });
  const byNode = new Map<string, TelemetryPage[]>();
  for (const [node, reads] of Map.groupBy(read, (one) => one.node)) {
    const pages = reads.flatMap((one) => one.pages);
    if (pages.length > 0) byNode.set(node, pages);
  }
  const pageProblems = read.flatMap((one) => one.problems).slice(0, maxPageProblems);
  return { byNode, problems: [...answerProblems(found, sorted, byNode, context), ...pageProblems] };
}

function sortRows(rows: readonly ServerRow[], context: AnswerContext): Sorted {
  const { knownNodes, maxSampleAgeSeconds } = context;
  const nodeOf = nodeNamer(context.nodeLabel, context.exporters, context.rejected);
  const scrapes = new Map<string, Scrape>();
  const old: ServerRow[] = [];
  const unknown = new Set<string>();
  let nameless = 0;
  for (const row of rows) {
    const node = nodeOf(row.labels);
    if (row.ageSeconds > maxSampleAgeSeconds) {
      old.push(row);
    } else if (node === null) {
      nameless += 1;
    } else if (knownNodes?.has(node) === false) {
      unknown.add(node);
    } else {
      const key = JSON.stringify([node, row.ageSeconds]);
      const scrape = scrapes.get(key);
      if (scrape === undefined) scrapes.set(key, { node, ageSeconds: row.ageSeconds, rows: [row] });
      else scrape.rows.push(row);
    }
  }
  return { scrapes: [...scrapes.values()], old, nameless, unknownNodes: [...unknown].sort() };
}

function answerProblems(
  found: ServerRows,
  sorted: Sorted,
  byNode: ServerPages["byNode"],
  context: AnswerContext,
): readonly Problem[] {
  const { server, nodeLabel, exporters, maxSampleAgeSeconds } = context;
  const { old, nameless, unknownNodes } = sorted;
  const missing = new Set(exporters.map(({ nodeName }) => nodeName).filter((node) => node !== "" && !byNode.has(node)));
  const clusters = new Set(found.rows.map(({ labels }) => labels.get("cluster") ?? "none named"));
  const youngest = old.reduce((least, { ageSeconds }) => Math.min(least, ageSeconds), Number.POSITIVE_INFINITY);
  const seen: readonly (readonly [boolean, () => Problem])[] = [
    [found.isCut, () => problems.tooManyRows(server, found.rows.length)],
    [found.malformed > 0, () => problems.malformedSeries(server, found.malformed)],
    [found.timeless > 0, () => problems.timelessRows(server, found.timeless)],
    [old.length > 0, () => problems.oldSamples(server, old.length, youngest, maxSampleAgeSeconds)],
    [nameless > 0, () => problems.namelessRows(server, nameless, nodeLabel)],
    [unknownNodes.length > 0, () => problems.unknownNodes(server, unknownNodes)],
    [clusters.size > 1, () => problems.severalClusters(server, [...clusters].sort())],
    [missing.size > 0, () => problems.missingNodes(server, [...missing].sort())],
  ];
  return seen.flatMap(([isSo, problem]) => (isSo ? [problem()] : []));
}

/** The scrape targets' own pods: the exporters that the API shows, and the pods that are named beside an `exported_pod`. */
function targetPodsOf(scrapes: readonly Scrape[], exporters: readonly DiscoveredPod[]): ReadonlySet<string> {
  const pods = new Set(exporters.map(({ namespace, name }) => `${namespace}/${name}`));
  for (const { rows } of scrapes) {
    for (const { labels } of rows) if (labels.has("exported_pod") && labels.has("pod")) pods.add(podOf(labels));
  }
  return pods;
}

const labelsOfPod: ReadonlySet<string> = new Set(["namespace", "pod", "container"]);

/** Rows in the text exposition format. Where a row names a target's own pod in place of a workload, that name is left out. */
function pageText(rows: readonly ServerRow[], targetPods: ReadonlySet<string>): Buffer {
  const blocks = rows.map(({ labels }) => {
    const isTarget = !labels.has("exported_pod") && targetPods.has(podOf(labels));
    return labelBlock([...labels].filter(([name]) => !(isTarget && labelsOfPod.has(name))));
  });
  let text = "";
  for (const metric of askedMetrics) {
    for (const [at, { values }] of rows.entries()) {
      const value = values.get(metric);
      if (value !== undefined) text += `${metric}${blocks[at]} ${value}\n`;
    }
  }
  return Buffer.from(text, "utf8");
}

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };

function labelBlock(labels: readonly (readonly [string, string])[]): string {
  const pairs = labels.map(
    ([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (char) => escapes[char] ?? char)}"`,
  );
  return `{${pairs.join(",")}}`;
}
