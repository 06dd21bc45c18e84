import { readLabels, unescaped } from "../../kernel/exposition/labels.ts";
import { lexPage, type PageVocabulary } from "../../kernel/exposition/lexer.ts";
import {
  type LatencyBucket,
  latencyKinds,
  type ServingCounter,
  type ServingRecord,
  type ServingServer,
} from "../../model/serving.ts";
import { copyLabels, type ServerNames, type ServingMetric, serverTable, servingMetrics } from "./servers.ts";

/** The labels that distinguish one series of a metric from the others. Untrusted text. */
export interface SeriesLabels {
  /** All labels but those that only distinguish copies, in the order of the page. */
  readonly text: string;
  readonly sleepState: string | null;
  /** The upper bound of a bucket, seconds; `null` for other series. */
  readonly bound: number | null;
}

/** The greatest number of distinct label sets that are read; no server has more. */
const maxSeries = 20_000;

/** The greatest count that is believed. Requests and tokens are never negative, and a page may contain any number. */
const mostCounted = 1e15;

/** The result of reading a page: its record, or why there is none. */
export type ServingReading =
  | { readonly ok: true; readonly record: ServingRecord }
  | { readonly ok: false; readonly because: "no_server" | "malformed" | "too_many_series" };

const byName: ReadonlyMap<string, ServingMetric> = new Map(servingMetrics.map((metric) => [metric.name, metric]));
const noLabels: SeriesLabels = { text: "", sleepState: null, bound: null };

/** The vocabulary with which pages of servers are read. */
const servingPages: PageVocabulary<ServingMetric, SeriesLabels> = {
  useOf: (name) => byName.get(name) ?? "skip",
  readBlock: (bytes, open, lineEnd) => {
    const kept: string[] = [];
    let sleepState: string | null = null;
    let bound: number | null = null;
    const end = readLabels(bytes, open, lineEnd, (nameFrom, nameTo, valueFrom, valueTo) => {
      const name = bytes.toString("latin1", nameFrom, nameTo);
      const value = bytes.toString("utf8", valueFrom, valueTo);
      if (name === "sleep_state") sleepState = unescaped(value);
      if (name === "le") bound = boundIn(value);
      if (!copyLabels.has(name)) kept.push(`${name}=${value}`);
    });
    return end < 0 ? null : { labels: { text: kept.join(","), sleepState, bound }, end };
  },
  noLabels: () => noLabels,
};

/**
 * Reads the page of a server. Never throws, whatever the bytes are. A page with a line that is not understood gives no record:
 * that line might be the one engine that has requests.
 */
export function readServingPage(bytes: Buffer): ServingReading {
  const found = new Map<string, NamedSeries>();
  let malformed = 0;
  let rows = 0;
  lexPage<SeriesLabels, ServingMetric, SeriesLabels>(
    bytes,
    servingPages,
    { acceptsCutLine: false },
    {
      row: (labels) => {
        rows += 1;
        return labels;
      },
      sample: ({ name }, labels, value) => {
        if (rows <= maxSeries) addSample(found, name, labels, value);
      },
      malformed: () => {
        malformed += 1;
      },
    },
  );
  if (malformed > 0) return { ok: false, because: "malformed" };
  if (rows > maxSeries) return { ok: false, because: "too_many_series" };
  const record = servingRecord(found);
  return record === null ? { ok: false, because: "no_server" } : { ok: true, record };
}

/** The values of one metric, keyed by the text that distinguishes its series; of copies the largest. */
export interface NamedSeries {
  readonly values: Map<string, number>;
  /** The state of each series, for metrics with one series for each state. */
  readonly states: Map<string, string>;
  /** The upper bound of each series, for buckets. */
  readonly bounds: Map<string, number>;
}

/** The bound of a bucket in its label `le`; `null` if that is no number. */
export function boundIn(text: string): number | null {
  const bound = text === "+Inf" ? Number.POSITIVE_INFINITY : text === "" ? Number.NaN : Number(text);
  return Number.isNaN(bound) ? null : bound;
}

/** Takes in one sample of a metric. */
export function addSample(
  found: Map<string, NamedSeries>,
  name: string,
  { text, sleepState, bound }: SeriesLabels,
  value: number,
): void {
  let series = found.get(name);
  if (series === undefined) {
    series = { values: new Map(), states: new Map(), bounds: new Map() };
    found.set(name, series);
  }
  const known = series.values.get(text);
  // A value that is no number makes the whole metric unknown.
  series.values.set(text, known === undefined ? value : Number.isNaN(known) ? known : Math.max(known, value));
  if (sleepState !== null) series.states.set(text, sleepState);
  if (bound !== null) series.bounds.set(text, bound);
}

/** The record of a page from the metrics of the table that it has; `null` if it has none. */
export function servingRecord(found: ReadonlyMap<string, NamedSeries>): ServingRecord | null {
  const present = serverTable.filter((names) => isPresent(names, found));
  if (present.length === 0) return null;
  const first = <T>(of: (names: ServerNames) => T | null): T | null => {
    for (const names of present) {
      const value = of(names);
      if (value !== null) return value;
    }
    return null;
  };
  const sum = (name: string | undefined): number | null => (name === undefined ? null : sumOf(found.get(name)));
  const gauges = present.flatMap(({ running, waiting }) => [running, waiting].filter((name) => name !== undefined));
  return {
    servers: present.map(({ server }): ServingServer => server),
    running: first(({ running }) => sum(running)),
    waiting: first(({ waiting }) => sum(waiting)),
    isEmpty: isEmpty(gauges.map(sum)),
    finished: first((names) => finishedOf(names, sum)),
    promptTokens: first(({ promptTokens }) => sum(promptTokens)),
    generatedTokens: first(({ generatedTokens }) => sum(generatedTokens)),
    counters: countersIn(present, found),
    ...latenciesIn(present, found),
    isAsleep: first(({ sleepState }) => (sleepState === undefined ? null : isAsleep(found.get(sleepState)))),
  };
}

/**
 * Whether a page has the metrics of a server. NIM's names have no prefix and are common, so NIM counts only with its counter of
 * requests beside its gauge.
 */
function isPresent(
  { server, running, waiting, finished, finishedElse }: ServerNames,
  found: ReadonlyMap<string, unknown>,
) {
  const has = (name: string | undefined) => name !== undefined && found.has(name);
  const counts = finished.some(has) || has(finishedElse);
  return server === "nim" ? has(running) && counts : has(running) || has(waiting) || counts;
}

/** The counters from which the sums of a record are made: of each kind, those of the first server that has them. */
function countersIn(
  present: readonly ServerNames[],
  found: ReadonlyMap<string, NamedSeries>,
): readonly ServingCounter[] {
  const of = (counts: ServingCounter["counts"], namesOf: (names: ServerNames) => readonly (string | undefined)[]) => {
    const names = present.map(namesOf).find(([main]) => main !== undefined && found.has(main)) ?? [];
    return names.flatMap((name = "") =>
      [...(found.get(name)?.values ?? [])].flatMap(([text, value]): readonly ServingCounter[] =>
        isCount(value) ? [{ counts, key: `${counts} ${name} ${text}`, value }] : [],
      ),
    );
  };
  return [
    ...of("requests", ({ finished: [main, ...others], finishedElse }) => [
      main !== undefined && found.has(main) ? main : finishedElse,
      ...others,
    ]),
    ...of("prompt", ({ promptTokens }) => [promptTokens]),
    ...of("generated", ({ generatedTokens }) => [generatedTokens]),
  ];
}

/** The buckets of a page: for each latency, those of the first server and name that the page has. */
function latenciesIn(
  present: readonly ServerNames[],
  found: ReadonlyMap<string, NamedSeries>,
): Pick<ServingRecord, "latencies"> {
  const latencies = latencyKinds.flatMap((of) => {
    const name = present.flatMap((names) => names[of] ?? []).find((one) => found.has(one)) ?? "";
    const { values, bounds } = found.get(name) ?? { values: [], bounds: new Map<string, number>() };
    return [...values].flatMap(([text, value]): readonly LatencyBucket[] => {
      const bound = bounds.get(text);
      return bound === undefined || !isCount(value) ? [] : [{ of, key: `${of} ${name} ${text}`, bound, value }];
    });
  });
  return latencies.length === 0 ? {} : { latencies };
}

function finishedOf(
  { finished, finishedElse }: ServerNames,
  sum: (name: string | undefined) => number | null,
): number | null {
  const [main, ...others] = finished;
  const ended = sum(main) ?? sum(finishedElse);
  if (ended === null) return null;
  return others.reduce((all, name) => all + (sum(name) ?? 0), ended);
}

const isCount = (value: number): boolean => value >= 0 && value <= mostCounted;

function sumOf(series: NamedSeries | undefined): number | null {
  if (series === undefined) return null;
  let sum = 0;
  for (const value of series.values.values()) {
    if (!isCount(value)) return null;
    sum += value;
  }
  return sum;
}

/**
 * Whether a server has no requests. One gauge above 0 shows that it has some; that it has none is known only if all gauges are
 * present.
 */
function isEmpty(sums: readonly (number | null)[]): boolean | null {
  if (sums.some((sum) => sum !== null && sum > 0)) return false;
  return sums.length === 0 || sums.includes(null) ? null : true;
}

/**
 * Whether an engine sleeps, which it does when its weights are offloaded or discarded; `null` if it has no state, or before its
 * state is first set, when all states are 0.
 */
function isAsleep(series: NamedSeries | undefined): boolean | null {
  if (series === undefined) return null;
  let asleep = 0;
  for (const [text, value] of series.values) {
    if (!(value > 0)) continue;
    if (series.states.get(text) === "awake") return false;
    asleep += 1;
  }
  return asleep > 0 ? true : null;
}
