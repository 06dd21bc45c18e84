import type { Analysis } from "../analysis/analysis.ts";
import type { Problem } from "../model/problem.ts";
import { buildFamilies, type PageLimits } from "./families.ts";
import type { Health } from "./health.ts";
import { renderPage } from "./prometheus/render.ts";

/** What one cycle leaves for the faces until the next one is complete. */
export interface Publication {
  readonly analysis: Analysis;
  /** The whole page of `/metrics`. */
  readonly page: Buffer;
  /** What publishing itself found, beside the problems of `Health`. */
  readonly problems: readonly Problem[];
}

/** Builds the page of a cycle; `processMetrics` is the text of `createProcessMetrics`. */
export function buildPublication(
  analysis: Analysis,
  health: Health,
  limits: PageLimits,
  processMetrics: string,
): Publication {
  const { families, problems } = buildFamilies(analysis, health, limits);
  return { analysis, page: Buffer.concat([renderPage(families), Buffer.from(processMetrics)]), problems };
}

/** The page without answers: Fairlead's own health, when the last answers are missing or too old. */
export function buildHealthPage(health: Health, limits: PageLimits, processMetrics: string): Buffer {
  const { families } = buildFamilies(null, health, limits);
  return Buffer.concat([renderPage(families), Buffer.from(processMetrics)]);
}
