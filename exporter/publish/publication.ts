import type { AccountCounters } from "../accounts/counters.ts";
import type { Analysis } from "../analysis/analysis.ts";
import type { Budgets } from "../history/budgetWatch.ts";
import type { Problem } from "../model/problem.ts";
import { type Advice, noAdvice } from "../model/recommendation.ts";
import { buildFamilies, type PageLimits } from "./families.ts";
import type { Family } from "./family.ts";
import type { Health } from "./health.ts";
import { type RenderCache, renderPage } from "./prometheus/render.ts";

/** What one cycle leaves for the faces until the next one is complete. */
export interface Publication {
  /** The moment that it tells of, seconds since the epoch. */
  readonly at: number;
  /** Seconds between two cycles. */
  readonly intervalSeconds: number;
  readonly analysis: Analysis;
  readonly advice: Advice;
  /** What the page renders: the same series for every other output. */
  readonly families: readonly Family[];
  /** The whole page of `/metrics`. */
  readonly page: Buffer;
  /** What publishing itself found, beside the problems of `Health`. */
  readonly problems: readonly Problem[];
}

/** Builds the page of a cycle; `processMetrics` is the text of `createProcessMetrics`; `accounts` the running totals; `rendered` saves work. */
export function buildPublication(
  analysis: Analysis,
  health: Health,
  limits: PageLimits,
  processMetrics: string,
  accounts: AccountCounters | null = null,
  rendered: RenderCache = new Map(),
  budgets: Budgets | null = null,
  advice: Advice = noAdvice,
): Publication {
  const { families, problems } = buildFamilies(analysis, health, limits, accounts, budgets, advice);
  const { at } = analysis.snapshot;
  const { intervalSeconds } = health;
  const page = Buffer.concat([renderPage(families, rendered), Buffer.from(processMetrics)]);
  return { at, intervalSeconds, analysis, advice, families, page, problems };
}

/** The page without answers: Fairlead's own health, when the last answers are missing or too old. */
export function buildHealthPage(health: Health, limits: PageLimits, processMetrics: string): Buffer {
  const { families } = buildFamilies(null, health, limits);
  return Buffer.concat([renderPage(families), Buffer.from(processMetrics)]);
}
