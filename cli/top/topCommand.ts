import { type OverviewText, overviewSchema } from "../../exporter/publish/terminal/overviewSchema.ts";
import { askExporter } from "../askExporter.ts";
import type { ExporterAddress } from "../exporterAddress.ts";
import type { ExitCode, Io } from "../io.ts";
import { refuse } from "../showProblem.ts";
import { openScreen } from "./watchScreen.ts";

const secondsBetween = 5;

/** `fairlead top`: draws the overview of a running exporter again every few seconds. */
export async function topCommand(exporter: ExporterAddress, io: Io): Promise<ExitCode> {
  const first = await askOverview(exporter, io.terminal.columns);
  if (!first.ok) return refuse(first.error, first.nextStep, io);
  const window = await io.openWindow?.();
  if (window === undefined) {
    io.err(
      "fairlead: top draws on a terminal, and standard input or output is none\nNext step: fairlead explain, fairlead advise and /api/v1/overview answer into files and pipes.\n",
    );
    return 2;
  }
  const screen = openScreen(window, io, io.terminal.source);
  let ended = false;
  void screen.ended.then(() => {
    ended = true;
  });
  try {
    screen.show(first.answer, statusOf(exporter, first.answer));
    while (!ended) {
      await Promise.race([screen.ended, new Promise((resolve) => setTimeout(resolve, secondsBetween * 1000))]);
      if (ended) break;
      const next = await askOverview(exporter, screen.columns());
      if (next.ok) screen.show(next.answer, statusOf(exporter, next.answer));
      else screen.show(null, [`no answer since then: ${next.error}`]);
    }
  } finally {
    screen.close();
  }
  return 0;
}

const askOverview = (exporter: ExporterAddress, columns: number) =>
  askExporter(exporter, { path: "api/v1/overview", parameters: { columns: `${columns}` }, schema: overviewSchema });

const statusOf = ({ url }: ExporterAddress, { at }: OverviewText): readonly string[] => [
  `${url}   cycle of ${at.slice(11, 19)} UTC`,
];
