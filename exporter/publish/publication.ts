import { collectDefaultMetrics, Registry } from "prom-client";
import type { Analysis } from "../analysis/analysis.ts";
import type { Problem } from "../model/problem.ts";
import { type Advice, noAdvice } from "../model/recommendation.ts";
import { buildFamilies, type PageInput, type PageLimits } from "./families.ts";
import type { Family } from "./family.ts";
import type { Health } from "./health.ts";
import { type RenderCache, renderPage } from "./prometheus/render.ts";

/** What one cycle leaves for the outputs until the next one is complete. */
export interface Publication {
  /** The moment that it describes, seconds since the epoch. */
  readonly at: number;
  /** Seconds between two cycles. */
  readonly intervalSeconds: number;
  readonly analysis: Analysis;
  readonly advice: Advice;
  /** The families that the page renders; every other output has the same series. */
  readonly families: readonly Family[];
  /** The whole page of `/metrics`. */
  readonly page: Buffer;
  /** Problems that publishing itself found, in addition to those of `Health`. */
  readonly problems: readonly Problem[];
}

/**
 * Builds the page of a cycle. `processMetrics` is the text of `createProcessMetrics`; `rendered` keeps texts from one page to
 * the next; it saves time, and does not change the page.
 */
export function buildPublication(
  input: PageInput & { readonly analysis: Analysis },
  processMetrics: string,
  rendered: RenderCache = new Map(),
): Publication {
  const { families, problems } = buildFamilies(input);
  const { analysis, health, advice } = input;
  const page = Buffer.concat([renderPage(families, rendered), Buffer.from(processMetrics)]);
  const { intervalSeconds } = health;
  return { at: analysis.snapshot.at, intervalSeconds, analysis, advice: advice ?? noAdvice, families, page, problems };
}

/** Builds the page without answers, which has only Fairlead's own health, for when the last answers are missing or too old. */
export function buildHealthPage(health: Health, limits: PageLimits, processMetrics: string): Buffer {
  const { families } = buildFamilies({ analysis: null, health, limits });
  return Buffer.concat([renderPage(families), Buffer.from(processMetrics)]);
}

/**
 * Default metrics that `promtool check metrics` complains of: gauges that are named like counters, and types in names. The
 * first three only add up series that are published anyway; event loop utilization is left out.
 */
const misnamed = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
  "nodejs_eventloop_utilization_histogram",
  "nodejs_eventloop_utilization_summary",
] as const;

/**
 * Collects the metrics of every Node.js program (`process_*`, `nodejs_*`) in a registry of their own. The returned function
 * gives them in the Prometheus text format.
 */
export function createProcessMetrics(cluster: string): () => Promise<string> {
  const register = new Registry();
  register.setDefaultLabels({ cluster });
  collectDefaultMetrics({ register });
  for (const name of misnamed) register.removeSingleMetric(name);
  return () => register.metrics();
}
