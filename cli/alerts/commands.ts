import type { Command } from "commander";
import type { ExitCode, Io } from "../io.ts";

/** Adds `fairlead alerts`. */
export function addAlerts(program: Command, io: Io, done: (code: ExitCode) => void): void {
  program
    .command("alerts")
    .description("write Prometheus rules (recorded series, and alerts that say what to do) and an Alertmanager example")
    .requiredOption("--output <dir>", "folder that the files are written to; files of the same names are replaced")
    .option("--config.file <file>", "thresholds and addresses (YAML); default: everything at its default")
    .action(async (flags: { output: string; "config.file"?: string }) => {
      const { writeAlerts } = await import("./writeAlerts.ts");
      done(await writeAlerts({ configFile: flags["config.file"] ?? null, output: flags.output }, io));
    });
}
