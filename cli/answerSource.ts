import { type Command, Option } from "commander";
import { shellQuote } from "../exporter/kernel/shellQuote.ts";
import { defaultListenAddress } from "../exporter/publish/http/listenAddress.ts";
import type { Terminal } from "../exporter/publish/terminal/layout.ts";
import { type ExporterAddress, type ExporterFlags, exporterAt } from "./exporterAddress.ts";
import { atOfDump } from "./inspect/atOption.ts";
import type { ExitCode, Io } from "./io.ts";
import { withLogin } from "./options.ts";

/** Flags of commands that ask a running exporter, a captured dump, or the demo. */
export interface SourceFlags extends ExporterFlags {
  readonly url: string;
  readonly dump?: readonly string[];
  readonly demo?: boolean;
  readonly at?: string;
  readonly "config.file"?: string;
}

/** Where a command's answer comes from. */
export interface AnswerSource {
  /** A dump to read instead of asking an exporter; empty: the exporter is asked. */
  readonly dump: readonly string[];
  /** The moment of the dump: RFC 3339 or seconds since the epoch; `null` takes the dump's own time. */
  readonly at: string | null;
  readonly configFile: string | null;
  readonly exporter: ExporterAddress;
}

/** Adds the options that choose a source; `use` is what the command does with a dump. */
export function withSourceOptions(command: Command, use: string): Command {
  const asking = command
    .option("--url <url>", "address of a running exporter", defaultUrl)
    .option("--dump <path...>", `${use} a captured dump instead, as inspect reads it`)
    .addOption(
      new Option("--demo", `${use} the simulated cluster of the demo instead (some seconds)`).conflicts([
        "dump",
        "url",
      ]),
    )
    .option("--at <time>", atOfDump)
    .option("--config.file <file>", "configuration file (YAML), for a dump");
  return withLogin(asking);
}

/** The address of an exporter on this machine. */
export const defaultUrl = `http://127.0.0.1${defaultListenAddress}`;

/** Asks the chosen source. The commands that the answer names choose the same source. */
export async function askSource(
  flags: SourceFlags,
  io: Io,
  ask: (source: AnswerSource, io: Io) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { dump = [], at = null } = flags;
  const configFile = flags["config.file"] ?? null;
  const askFrom = (exporter: ExporterAddress): Promise<ExitCode> =>
    ask({ dump, at, configFile, exporter }, { ...io, terminal: { ...io.terminal, source: sourceText(flags) } });
  if (flags.demo !== true) return askFrom(exporterAt(flags.url, flags));
  const { withDemo } = await import("./demo/withDemo.ts");
  return withDemo(io, askFrom);
}

type GivenFlags = { readonly [Name in keyof SourceFlags]?: SourceFlags[Name] | undefined };

/** The given flags as text for a shell, such as ` --dump=DIR`. Flags that are at their default are left out. */
export function sourceText(flags: GivenFlags): Terminal["source"] {
  const named: readonly (readonly [string, string | undefined])[] = [
    ...(flags.dump ?? []).map((path) => ["dump", path] as const),
    ["at", flags.at],
    ["config.file", flags["config.file"]],
    ["url", flags.url === defaultUrl ? undefined : flags.url],
    ["username", flags.username],
    ["password-file", flags.passwordFile],
    ["ca-file", flags.caFile],
  ];
  const words = named.flatMap(([name, value]) => (value === undefined ? [] : [` --${name}=${shellQuote(value)}`]));
  return `${flags.demo === true ? " --demo" : ""}${words.join("")}`;
}
