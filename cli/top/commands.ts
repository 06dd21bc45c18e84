import type { Command } from "commander";
import { defaultUrl, sourceText } from "../answerSource.ts";
import { type ExporterFlags, exporterAt } from "../exporterAddress.ts";
import type { ExitCode, Io } from "../io.ts";

/** Adds `fairlead top`. */
export function addTop(program: Command, io: Io, done: (code: ExitCode) => void): void {
  program
    .command("top")
    .description("watch teams, pools and advice of a running exporter on this terminal, one key each")
    .option("--url <url>", "address of a running exporter", defaultUrl)
    .option("--username <name>", "user of the exporter's web configuration")
    .option("--password-file <file>", "file that holds the user's password")
    .option("--ca-file <file>", "CA certificates that sign the exporter's certificate")
    .action(async (flags: ExporterFlags & { readonly url: string }) => {
      const { topCommand } = await import("./topCommand.ts");
      const terminal = { ...io.terminal, source: sourceText(flags) };
      done(await topCommand(exporterAt(flags.url, flags), { ...io, terminal }));
    });
}
