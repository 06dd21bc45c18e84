import type { Command } from "commander";
import { askSource, type SourceFlags, withSourceOptions } from "../answerSource.ts";
import type { ExitCode, Io } from "../io.ts";
import { outputOption } from "../options.ts";

/** Adds `fairlead advise`. */
export function addAdvise(program: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = program
    .command("advise")
    .description("say what to do: recommendations of a running exporter, or for a captured dump");
  withSourceOptions(command, "advise on")
    .option("--what-if <id>", "show one in full: before and after, guards, steps and commands")
    .addOption(outputOption("for people, machines, or a ticket", ["table", "json", "yaml", "markdown"]))
    .action(async (flags: AdviseFlags) => {
      const { adviseCommand } = await import("./adviseCommand.ts");
      const { output, whatIf = null } = flags;
      done(await askSource(flags, io, (source, at) => adviseCommand({ ...source, whatIf, output }, at)));
    });
}

interface AdviseFlags extends SourceFlags {
  readonly whatIf?: string;
  readonly output: "table" | "json" | "yaml" | "markdown";
}
