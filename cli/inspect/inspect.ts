import { adviseOnce } from "../../exporter/advice/adviser.ts";
import { buildDocument } from "../../exporter/publish/document/buildDocument.ts";
import { jsonText } from "../../exporter/publish/document/jsonText.ts";
import { overview } from "../../exporter/publish/terminal/overview.ts";
import type { ExitCode, Io } from "../io.ts";
import { analyseDump, type DumpOptions, type ReadMoment } from "./analyseDump.ts";
import { saysNoGpus } from "./noGpus.ts";

/** Options of `fairlead inspect`. */
export interface InspectOptions extends DumpOptions {
  readonly output: "table" | "json";
}

/**
 * Reports about a captured dump what `serve` would report about the cluster at that moment. A dump without any GPU is a fault.
 */
export async function inspect(options: InspectOptions, io: Io): Promise<ExitCode> {
  const moment = await analyseDump(options, io);
  return moment.ok ? showMoment(moment, options.output, io) : moment.code;
}

/** Prints the answers of a moment. `howToSeeMore` is the next step where there is no node at all; default: to take a dump. */
export function showMoment(
  moment: ReadMoment,
  output: InspectOptions["output"],
  io: Io,
  howToSeeMore?: string,
): ExitCode {
  const { analysis, config } = moment;
  const advice = adviseOnce(analysis, config.advice, config.interval);
  const json = output === "json";
  io.out(
    json
      ? jsonText(buildDocument(analysis, analysis.snapshot.problems, advice))
      : `${overview(analysis, analysis.snapshot.problems, advice, io.terminal)}\n`,
  );
  return saysNoGpus(moment, io, howToSeeMore) ? 1 : 0;
}
