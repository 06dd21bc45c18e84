import { maxLabelBytes } from "../../kernel/exposition/labels.ts";
import type { JsonRecord } from "../../kernel/parseJson.ts";
import { labelOf, readSeries, type Series } from "../http/prometheusApi.ts";
import { askedMetrics, type QueryScope, reportedLabels, timeMark } from "./prometheusQuery.ts";

/** All series of an answer that agree in every label but the metric's name. On an exporter's page this is a row. */
export interface ServerRow {
  /** Labels that have a value. Untrusted text. */
  readonly labels: ReadonlyMap<string, string>;
  /** The values by metric name; `NaN` where the value was no finite number. */
  readonly values: ReadonlyMap<string, number>;
  /** Age of its newest sample when the query was evaluated, in seconds, by the server's own clock. */
  readonly ageSeconds: number;
}

/** The rows of an answer, and the counts of what could not be used. */
export interface ServerRows {
  readonly rows: readonly ServerRow[];
  /** Number of series that do not have the form of one. */
  readonly malformed: number;
  /** Number of rows whose time is not in the answer. */
  readonly timeless: number;
  /** Whether there were more rows than are kept. */
  readonly isCut: boolean;
}

interface Draft {
  readonly labels: ReadonlyMap<string, string>;
  readonly values: Map<string, number>;
  ageSeconds: number | null;
}

const wanted: ReadonlySet<string> = new Set(askedMetrics);

/** Combines the series of a vector into rows, at most `maxRows`. Pure; never throws, whatever the series are. */
export function readServerRows(result: readonly unknown[], scope: QueryScope, maxRows: number): ServerRows {
  const reported = reportedLabels(scope);
  const places = new Map(reported.map((name, place) => [name, place] as const));
  const drafts = new Map<string, Draft>();
  let malformed = 0;
  let isCut = false;
  for (const entry of result) {
    const series = readSeries(entry);
    const texts = series === null ? null : labelTexts(series.metric, places);
    if (series === null || texts === null) {
      malformed += 1;
      continue;
    }
    const draft = draftFor(drafts, reported, texts, maxRows);
    if (draft === null) isCut = true;
    else takeValue(draft, series);
  }
  const rows: ServerRow[] = [];
  let timeless = 0;
  for (const { labels, values, ageSeconds } of drafts.values()) {
    if (ageSeconds === null) timeless += 1;
    else rows.push({ labels, values, ageSeconds });
  }
  return { rows, malformed, timeless, isCut };
}

function takeValue(draft: Draft, { metric, value, evaluatedAt }: Series): void {
  if (labelOf(metric, timeMark.label) === timeMark.value) {
    const age = Math.max(0, evaluatedAt - value);
    draft.ageSeconds = Number.isNaN(age) ? null : age;
    return;
  }
  const name = labelOf(metric, "__name__");
  if (name !== null && wanted.has(name)) draft.values.set(name, value);
}

function draftFor(
  drafts: Map<string, Draft>,
  names: readonly string[],
  texts: readonly string[],
  maxRows: number,
): Draft | null {
  // Two different rows have the same key only if their labels contain line breaks, and no real label does.
  const key = texts.join("\n");
  const known = drafts.get(key);
  if (known !== undefined) return known;
  if (drafts.size >= maxRows) return null;
  const labels = new Map<string, string>();
  for (const [at, name] of names.entries()) {
    const text = texts[at] ?? "";
    if (text !== "") labels.set(name, text);
  }
  const draft: Draft = { labels, values: new Map(), ageSeconds: null };
  drafts.set(key, draft);
  return draft;
}

/** Values in the order of the names; `null` if one is not text, or too long. */
function labelTexts(metric: JsonRecord, places: ReadonlyMap<string, number>): readonly string[] | null {
  const texts = new Array<string>(places.size).fill("");
  for (const name of Object.keys(metric)) {
    const place = places.get(name);
    if (place === undefined) continue;
    const text = metric[name];
    if (typeof text !== "string" || text.length > maxLabelBytes) return null;
    texts[place] = text;
  }
  return texts;
}
