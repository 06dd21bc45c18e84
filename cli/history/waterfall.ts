import { parseTotalsQuestion } from "../../exporter/history/parseTotalsQuestion.ts";
import { askWaterfall } from "../../exporter/history/waterfall.ts";
import { waterfallCsv, waterfallRecord } from "../../exporter/publish/history/records.ts";
import { waterfallText } from "../../exporter/publish/history/waterfallText.ts";
import { layOut } from "../../exporter/publish/terminal/layout.ts";
import type { ExitCode, Io } from "../io.ts";
import { refuse } from "../showProblem.ts";
import { type HistoryChoice, openHistory } from "./openHistory.ts";

/** Options of `fairlead waterfall`. */
export interface WaterfallOptions extends HistoryChoice {
  readonly from: string | null;
  readonly to: string | null;
  /** Filters by name and value: GPU time counts only if it has one of the values of each name. */
  readonly where: readonly (readonly [name: string, value: string])[];
  readonly output: "table" | "json" | "csv";
}

/** `fairlead waterfall`: prints where the GPU time of a window went, from capacity down to what was used. */
export async function waterfallCommand(options: WaterfallOptions, now: number, io: Io): Promise<ExitCode> {
  const parsed = parseTotalsQuestion({ ...options, by: null }, now);
  if (!parsed.ok) return refuse(parsed.error, parsed.nextStep, io);
  const opened = await openHistory(options, io);
  if (opened === null) return 1;
  try {
    const result = await askWaterfall(opened.history, parsed.question);
    if (!result.ok) return refuse(result.error, result.nextStep, io);
    const { answer } = result;
    if (options.output === "json") io.out(`${JSON.stringify(waterfallRecord(answer, now), null, 2)}\n`);
    else if (options.output === "csv") io.out(waterfallCsv(answer));
    else io.out(`${layOut(waterfallText(answer, now), io.terminal)}\n`);
    return 0;
  } finally {
    await opened.close();
  }
}
