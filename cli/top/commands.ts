import type { Command } from "commander";
import { defaultUrl, sourceText } from "../answerSource.ts";
import { type ExporterFlags, exporterAt } from "../exporterAddress.ts";
import type { ExitCode, Io } from "../io.ts";
import { withLogin } from "../options.ts";

/** Adds `fairlead top`. */
export function addTop(program: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = program
    .command("top")
    .description("watch teams, pools and advice of a running exporter on this terminal, one key each")
    .option("--url <url>", "address of a running exporter", defaultUrl);
  withLogin(command).action(async (flags: ExporterFlags & { readonly url: string }) => {
    const { topCommand } = await import("./topCommand.ts");
    const terminal = { ...io.terminal, source: sourceText(flags) };
    done(await topCommand(exporterAt(flags.url, flags), { ...io, terminal }));
  });
}
