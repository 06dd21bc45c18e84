import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AlertingRule, alertGroups, type RecordingRule, recordingGroups } from "../../../alerts/ruleGroups.ts";
import { alertsSchema } from "../../../alerts/thresholds.ts";
import { configSchema } from "../../../exporter/config/schema.ts";
import { type AnsweredSeries, parseHistoryAnswer } from "../../../exporter/history/prometheusAnswer.ts";
import { harborSettings, harborWeeks } from "../../../simulator/scenarios/harborWeeks.ts";
import { type RunningPrometheus, startPrometheusWith } from "../prometheus.ts";
import { type AlertMatches, alertSeries } from "./alertSeries.ts";
import { playPages } from "./playPages.ts";
import { sampleLine } from "./timedSamples.ts";

/** What is played. */
export interface PlayedPrometheusOptions {
  /** How many days before `to` are played. Two weeks and the month to date need 15.4, and `offset 1w` needs more than 7. */
  readonly days: number;
  readonly seed?: number;
  /** Called with a line about the work that is under way. */
  readonly onProgress?: (line: string) => void;
}

/** A Prometheus that has a played cluster's past: times are seconds since the epoch. */
export interface PlayedPrometheus {
  readonly url: string;
  readonly from: number;
  /** The time of the last scrape, which is "now" for each question. */
  readonly to: number;
  /** Seconds between two scrapes, and between two evaluations of the rules. */
  readonly stepSeconds: number;
  /** The ledger of the same play. */
  readonly ledgerFile: string;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
}

/** The end of the play: a Monday morning, so that the pictures are the same on any day. */
const to = Date.parse("2026-11-16T08:00:00Z") / 1000;
const stepSeconds = 600;
/** Advice is followed when it has been open for a day and a half, so that some has been followed and some is open. */
const followAfter = 36 * 3600;
/**
 * Scrapes are further apart than the five minutes for which Prometheus takes a sample as current. Unlike a scrape, an import
 * cannot mark the end of a series; but with less than one step, a series ends at the step at which it is gone.
 */
const flags = [`--query.lookback-delta=${stepSeconds - 1}s`, "--storage.tsdb.retention.time=50y"];
const noTargets = "scrape_configs: []\n";

/**
 * Plays a cluster with the real exporter up to `to`, puts the pages and what our rules record of them into the data of a
 * Prometheus, and starts it. Takes about nine seconds for a day. Throws when `prometheus` or `promtool` is missing.
 */
export async function startPlayedPrometheus(options: PlayedPrometheusOptions): Promise<PlayedPrometheus> {
  const { days, seed = 7, onProgress = () => {} } = options;
  const from = to - Math.round((days * 86_400) / stepSeconds) * stepSeconds;
  const folder = await mkdtemp(join(tmpdir(), "fairlead-played-"));
  const ledgerFile = join(folder, "ledger.db");
  try {
    onProgress(`playing ${days} days of a cluster (about ${Math.ceil((days * 9) / 60)} min) ...`);
    const config = configSchema.parse({ ...harborSettings, interval: stepSeconds, ledger: { path: ledgerFile } });
    const pages = await playPages(folder, {
      scenario: harborWeeks(days),
      config,
      seed,
      from,
      to,
      followAfter,
      onStep: reportEachTenth(onProgress),
    });
    onProgress("importing what was scraped ...");
    for (const file of pages) {
      await importSamples(file, folder);
      await rm(file);
    }
    await recordRules(folder, { from, to }, onProgress);
    const { url, stop } = await serve(folder);
    return {
      url,
      from,
      to,
      stepSeconds,
      ledgerFile,
      async stop() {
        await stop();
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

function reportEachTenth(onProgress: (line: string) => void): (part: number) => void {
  let reported = 0;
  return (part) => {
    if (Math.floor(part * 10) <= reported) return;
    reported = Math.floor(part * 10);
    onProgress(`played ${reported * 10} %`);
  };
}

async function serve(folder: string): Promise<RunningPrometheus> {
  const running = await startPrometheusWith(noTargets, { folder, flags });
  if (running === null) throw new Error("prometheus did not come up (Debian: apt-get install prometheus)");
  return running;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Evaluates our rules over the whole span: each pass is asked of a server that has what the passes before have written. */
async function recordRules(folder: string, span: Span, onProgress: (line: string) => void): Promise<void> {
  const settings = alertsSchema.parse({ interval: `${stepSeconds / 60}m` });
  const passes = rulePasses(recordingGroups(settings).flatMap(({ rules }) => rules));
  for (const [pass, rules] of passes.entries()) {
    onProgress(`recording ${rules.length} rules (pass ${pass + 1} of ${passes.length + 1}) ...`);
    await writeFromAnswers(folder, rules, (rule, url) => recordedSamples(rule, url, span));
  }
  const alerts = alertGroups(settings).flatMap(({ rules }) => rules);
  onProgress(`evaluating ${alerts.length} alerts (pass ${passes.length + 1} of ${passes.length + 1}) ...`);
  await writeFromAnswers(folder, alerts, (rule, url) => alertSamples(rule, url, span));
}

/** A rule, with the name of the series that it writes. */
interface NamedRule {
  readonly record: string;
  readonly expr: string;
}

/** Names that could be those of series, in the order of an expression. */
const seriesNames = /[a-zA-Z_:][a-zA-Z0-9_:]*/g;

/**
 * The rules in passes: each pass reads only series that are scraped or were written in an earlier pass. Within one evaluation,
 * a Prometheus reads what the rules before have just written; the passes are needed where a rule is evaluated over weeks at
 * once.
 */
export function rulePasses<Rule extends NamedRule>(rules: readonly Rule[]): readonly (readonly Rule[])[] {
  const passOf = new Map<string, number>();
  const passes: Rule[][] = [];
  for (const rule of rules) {
    const read = (rule.expr.match(seriesNames) ?? []).map((name) => passOf.get(name) ?? -1);
    const pass = Math.max(-1, ...read) + 1;
    passOf.set(rule.record, pass);
    passes[pass] = [...(passes[pass] ?? []), rule];
  }
  return passes;
}

async function writeFromAnswers<Rule>(
  folder: string,
  rules: readonly Rule[],
  samplesOf: (rule: Rule, url: string) => Promise<string>,
): Promise<void> {
  const server = await serve(folder);
  const texts: string[] = [];
  try {
    for (const rule of rules) texts.push(await samplesOf(rule, server.url));
  } finally {
    await server.stop();
  }
  await importSamples(texts, folder);
}

async function recordedSamples({ record, expr }: RecordingRule, url: string, span: Span): Promise<string> {
  const series = await askRange(url, expr, { ...span, step: stepSeconds });
  return series
    .flatMap(({ labels: { __name__: _, ...labels }, points }) =>
      points.map(([at, value]) => sampleLine(record, labels, value, at)),
    )
    .join("");
}

async function alertSamples(rule: AlertingRule, url: string, span: Span): Promise<string> {
  const series = await askRange(url, rule.expr, { ...span, step: stepSeconds });
  const matches: readonly AlertMatches[] = series.map(({ labels: { __name__: _, ...labels }, points }) => ({
    labels,
    at: points.map(([at]) => at),
  }));
  return alertSeries(rule, matches, stepSeconds);
}

/**
 * Puts samples into the data of a Prometheus that does not run: a file of OpenMetrics with times, or its lines. Throws with
 * promtool's message when promtool refuses them.
 */
async function importSamples(samples: string | readonly string[], folder: string): Promise<void> {
  if (typeof samples === "string") return await createBlocks(samples, folder);
  const file = join(folder, "recorded.txt");
  await writeFile(file, [...samples, "# EOF\n"].join(""));
  await createBlocks(file, folder);
  await rm(file);
}

async function createBlocks(file: string, folder: string): Promise<void> {
  // promtool reads the file once for each block, so the blocks are long.
  const args = ["tsdb", "create-blocks-from", "--max-block-duration=400h", "openmetrics", file, join(folder, "data")];
  const child = spawn("promtool", args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said = `${said}${chunk.toString()}`.slice(-2_000);
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`promtool did not import ${file}: ${said}`);
}

/** All series that an expression returns over a span of time. Throws with the server's message when the server refuses it. */
export async function askRange(
  url: string,
  query: string,
  span: { readonly from: number; readonly to: number; readonly step: number },
): Promise<readonly AnsweredSeries[]> {
  const body = new URLSearchParams({ query, start: `${span.from}`, end: `${span.to}`, step: `${span.step}` });
  const response = await fetch(`${url}/api/v1/query_range`, { method: "POST", body });
  const answer = parseHistoryAnswer(await response.text());
  if (answer.kind === "series") return answer.series;
  throw new Error(`${query}: ${answer.kind === "refused" ? answer.reason : answer.finding}`);
}
