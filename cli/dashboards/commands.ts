import type { Command } from "commander";
import type { ExitCode, Io } from "../io.ts";

interface Flags {
  readonly output: string;
  readonly "config.file"?: string;
  readonly "alerts.file"?: string;
}

/** Adds `fairlead dashboards`. */
export function addDashboards(program: Command, io: Io, done: (code: ExitCode) => void): void {
  program
    .command("dashboards")
    .description("write dashboards for Grafana 10 and later, and examples of what makes Grafana read them")
    .requiredOption("--output <dir>", "folder that the files are written to; files of the same names are replaced")
    .option(
      "--config, --config.file <file>",
      "data source, currency, time range (YAML); default: everything at its default",
    )
    .option(
      "--alerts.file <file>",
      "the file given to `fairlead alerts`: its thresholds, addresses and label of clusters",
    )
    .action(async (flags: Flags) => {
      const { writeDashboards } = await import("./writeDashboards.ts");
      const files = { configFile: flags["config.file"] ?? null, alertsFile: flags["alerts.file"] ?? null };
      done(await writeDashboards({ ...files, output: flags.output }, io));
    });
}
