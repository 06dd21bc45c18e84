import {
  applyFieldOverrides,
  cacheFieldDisplayNames,
  type DataFrame,
  type DataTransformerConfig,
  type GrafanaTheme2,
  standardTransformers,
  standardTransformersRegistry,
  transformDataFrame,
} from "@grafana/data";
import { lastValueFrom } from "rxjs";
import { askInstant, askRange } from "./askPrometheus.ts";
import type { Panel } from "./dashboardJson.ts";
import { fieldConfigOf, fieldConfigRegistry } from "./fieldConfig.ts";
import { framesOf } from "./frames.ts";
import { type BuiltIn, interpolate, type SetVariable } from "./interpolate.ts";
import type { Span } from "./variables.ts";

/** The facts that all panels of a page share. */
export interface PageContext {
  readonly span: Span;
  /** Time between two scrapes, in seconds, like the data source's setting "scrape interval". */
  readonly scrapeSeconds: number;
  readonly variables: readonly SetVariable[];
  readonly theme: GrafanaTheme2;
}

/** The data that a panel draws. */
export interface PanelData {
  readonly frames: DataFrame[];
  /** Number of series of the queries that are shown. */
  readonly series: number;
}

standardTransformersRegistry.setInit(() =>
  // Some transformers are registered twice, under an older name, too.
  [...new Map(Object.values(standardTransformers).map((one) => [one.id, one])).values()].map((transformer) => ({
    id: transformer.id,
    name: transformer.name,
    transformation: () => Promise.resolve(transformer),
    editor: () => null,
    imageDark: "",
    imageLight: "",
  })),
);

const unitSeconds: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** The seconds of a span such as `10m`; `null` for any other text. */
export function secondsOf(span: string): number | null {
  const [, count, unit = ""] = /^>?(\d+)(ms|[smhdw])$/.exec(span) ?? [];
  const each = unitSeconds[unit];
  return count === undefined || each === undefined ? null : Number(count) * each;
}

/** The steps to which Grafana rounds: they give enough points for the width, and none is shorter than a scrape. */
const niceSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

function stepFor(
  { span, scrapeSeconds }: PageContext,
  panel: Panel,
  width: number,
  shortest: string | undefined,
): number {
  const wanted = (span.to - span.from) / (panel.maxDataPoints ?? Math.max(100, Math.round(width)));
  const least = secondsOf(shortest ?? panel.interval ?? "") ?? scrapeSeconds;
  const rounded = niceSteps.find((step) => step >= wanted) ?? 86_400;
  // Samples exist only at multiples of the scrape interval.
  return Math.ceil(Math.max(rounded, least, scrapeSeconds) / scrapeSeconds) * scrapeSeconds;
}

/** The variables that Grafana itself sets for a query. */
export function builtInOf(span: Span, stepSeconds: number, scrapeSeconds: number): BuiltIn {
  const range = Math.round(span.to - span.from);
  return {
    __interval: `${stepSeconds}s`,
    __interval_ms: `${stepSeconds * 1000}`,
    __rate_interval: `${Math.max(stepSeconds + scrapeSeconds, 4 * scrapeSeconds)}s`,
    __range: `${range}s`,
    __range_s: `${range}`,
    __range_ms: `${range * 1000}`,
    __from: `${span.from * 1000}`,
    __to: `${span.to * 1000}`,
  };
}

/**
 * Sends the queries of a panel, and turns the answers into what its visualization draws. Throws with the server's own words.
 */
export async function loadPanelData(panel: Panel, context: PageContext, width: number): Promise<PanelData> {
  const { scrapeSeconds, variables, theme } = context;
  const from = secondsOf(panel.timeFrom?.replace(/^now-/, "") ?? "");
  const span = from === null ? context.span : { from: context.span.to - from, to: context.span.to };
  const shown = panel.targets.filter(({ hide, expr }) => !hide && expr !== "");
  const tables = shown.filter(({ format }) => format === "table").length;
  const answers = await Promise.all(
    shown.map(async (target) => {
      const shortest = target.interval === undefined ? undefined : interpolate(target.interval, variables, {});
      const step = stepFor({ ...context, span }, panel, width, shortest);
      const expression = interpolate(target.expr, variables, builtInOf(span, step, scrapeSeconds));
      const series = target.instant
        ? await askInstant(expression, span.to)
        : await askRange(expression, span.from, span.to, step);
      return framesOf(series, target, target.instant ? null : step, tables);
    }),
  );
  const unknown = panel.transformations.find(({ id }) => standardTransformersRegistry.getIfExists(id) === undefined);
  if (unknown !== undefined) throw new Error(`the preview has no transformation "${unknown.id}"`);
  const replace = (text: string): string => interpolate(text, variables, builtInOf(span, scrapeSeconds, scrapeSeconds));
  const transformations: DataTransformerConfig[] = panel.transformations.map(({ id, options, filter, disabled }) => ({
    id,
    options: options ?? {},
    disabled: disabled === true,
    ...(isMatcher(filter) ? { filter } : {}),
  }));
  const frames = answers.flat();
  const transformed = await lastValueFrom(
    transformDataFrame(
      transformations.filter(({ disabled }) => disabled !== true),
      frames,
      { interpolate: replace },
    ),
  );
  const drawn = applyFieldOverrides({
    data: transformed,
    fieldConfig: fieldConfigOf(panel),
    fieldConfigRegistry: fieldConfigRegistry(panel),
    replaceVariables: replace,
    theme,
    timeZone: "utc",
  });
  // Colours by name and heads of tables depend on these names.
  cacheFieldDisplayNames(drawn);
  return { frames: drawn, series: frames.length };
}

function isMatcher(filter: unknown): filter is { id: string; options?: unknown } {
  return typeof filter === "object" && filter !== null && "id" in filter && typeof filter.id === "string";
}
