import type { Command } from "commander";
import type { ExitCode, Io } from "../io.ts";
import { collected, outputOption } from "../options.ts";

interface WaterfallFlags {
  readonly ledger?: string;
  readonly prometheus?: string;
  readonly "config.file"?: string;
  readonly cluster?: string;
  readonly from: string;
  readonly to?: string;
  readonly pool: readonly string[];
  readonly team: readonly string[];
  readonly queue: readonly string[];
  readonly output: "table" | "json" | "csv";
}

/** Adds `fairlead waterfall`. */
export function addHistory(program: Command, io: Io, done: (code: ExitCode) => void): void {
  program
    .command("waterfall")
    .description(
      "where the GPU time of a window went: capacity, ready, allocated, started, active, and what each step loses",
    )
    .option("--ledger <file>", "ask a ledger, also while it is written")
    .option("--prometheus <url>", "ask a server with Prometheus' HTTP API that scrapes Fairlead")
    .option("--config.file <file>", "ask what the configuration names: history.prometheus, else its ledger")
    .option("--cluster <name>", "cluster, where a server holds several")
    .option("--from <time>", "begin: a date, a time, or a span before the end (7d, 12h)", "7d")
    .option("--to <time>", "end, itself not in it: a date or a time; default: the end of this hour (UTC)")
    .option("--pool <pool>", "only this pool; may be repeated", collected, [])
    .option("--team <team>", "only what this team had allocated; may be repeated", collected, [])
    .option("--queue <queue>", "only what this queue had allocated; may be repeated", collected, [])
    .addOption(outputOption("a table for people, or data", ["table", "json", "csv"]))
    .action(async (flags: WaterfallFlags) => {
      const { waterfallCommand } = await import("./waterfall.ts");
      const where = (["pool", "team", "queue"] as const).flatMap((name) =>
        flags[name].map((value) => [name, value] as const),
      );
      const options = {
        ledger: flags.ledger ?? null,
        prometheus: flags.prometheus ?? null,
        configFile: flags["config.file"] ?? null,
        cluster: flags.cluster ?? null,
        from: flags.from,
        to: flags.to ?? null,
        where,
        output: flags.output,
      };
      done(await waterfallCommand(options, Date.now() / 1000, io));
    });
}
