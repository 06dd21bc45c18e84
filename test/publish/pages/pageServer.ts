import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import type { Advice } from "../../../exporter/model/recommendation.ts";
import { explain } from "../../../exporter/publish/explain/explain.ts";
import type { Outputs } from "../../../exporter/publish/http/outputs.ts";
import type { RunningServer } from "../../../exporter/publish/http/server.ts";
import { buildPublication } from "../../../exporter/publish/publication.ts";
import { asKim, scriptedAdviser, startAdvised } from "../adviceServer.ts";
import { health } from "../moment.ts";
import { severalAdvice } from "../severalAdvice.ts";

const limits = { teams: 1000, series: 50_000 };

/** A server of one moment with its explanations. */
export async function servePages(
  analysis: Analysis,
  outputs: Partial<Outputs> = {},
  advice: Advice = severalAdvice,
): Promise<RunningServer> {
  const publication = buildPublication({ analysis, health: health(), limits, advice }, "");
  return await startAdvised(scriptedAdviser(advice).adviser, {
    latest: () => publication,
    explain: (kind, name) =>
      explain(kind, name, { analysis, settings: defaultConfig, problems: [], accountedTime: null }),
    ...outputs,
  });
}

/** What a page is: its status, its kind and its text. */
export interface AskedPage {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Asks for a page as a user. */
export async function askPage({ url }: Pick<RunningServer, "url">, path: string): Promise<AskedPage> {
  const response = await fetch(`${url}${path}`, { headers: asKim });
  return { status: response.status, type: response.headers.get("content-type") ?? "", text: await response.text() };
}
