import { type Command, Option } from "commander";
import { defaultListenAddress } from "../../exporter/publish/http/listenAddress.ts";
import { exporterAt } from "../exporterAddress.ts";
import { atOfDump } from "../inspect/atOption.ts";
import type { ExitCode, Io } from "../io.ts";

/** Adds `fairlead advise`. */
export function addAdvise(program: Command, io: Io, done: (code: ExitCode) => void): void {
  program
    .command("advise")
    .description("say what to do: recommendations of a running exporter, or for a captured dump")
    .option("--url <url>", "address of a running exporter", `http://127.0.0.1${defaultListenAddress}`)
    .option("--dump <path...>", "advise on a captured dump instead, as inspect reads it")
    .option("--at <time>", atOfDump)
    .option("--what-if <id>", "show one in full: before and after, guards, steps and commands")
    .addOption(
      new Option("-o, --output <format>", "for people, machines, or a ticket")
        .choices(["table", "json", "yaml", "markdown"])
        .default("table"),
    )
    .option("--config.file <file>", "configuration file (YAML), for a dump")
    .option("--username <name>", "user of the exporter's web configuration")
    .option("--password-file <file>", "file that holds the user's password")
    .option("--ca-file <file>", "CA certificates that sign the exporter's certificate")
    .action(async (flags: AdviseFlags) => {
      const { adviseCommand } = await import("./adviseCommand.ts");
      const exporter = exporterAt(flags.url, flags);
      done(
        await adviseCommand(
          {
            whatIf: flags.whatIf ?? null,
            output: flags.output,
            dump: flags.dump ?? [],
            at: flags.at ?? null,
            configFile: flags["config.file"] ?? null,
            exporter,
          },
          io,
        ),
      );
    });
}

interface AdviseFlags {
  readonly url: string;
  readonly dump?: readonly string[];
  readonly at?: string;
  readonly whatIf?: string;
  readonly output: "table" | "json" | "yaml" | "markdown";
  readonly "config.file"?: string;
  readonly username?: string;
  readonly passwordFile?: string;
  readonly caFile?: string;
}
