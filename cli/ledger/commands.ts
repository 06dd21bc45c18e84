import { type Command, InvalidArgumentError, Option } from "commander";
import type { ExitCode, Io } from "../io.ts";

/** Adds `fairlead ledger check|query|backup`. */
export function addLedger(program: Command, io: Io, done: (code: ExitCode) => void): void {
  const ledger = program
    .command("ledger")
    .description("look into the ledger: the record of GPU time that outlives restarts");
  ledger
    .command("check")
    .description("check that a ledger is sound and that its books close")
    .argument("<file>", "the ledger (ledger.path of the configuration)")
    .action(async (file: string) => done((await import("./check.ts")).ledgerCheck(file, io)));
  ledger
    .command("backup")
    .description("copy a ledger, also while it is written")
    .argument("<file>", "the ledger")
    .argument("<target>", "the copy; an existing file is never replaced")
    .action(async (file: string, target: string) => done((await import("./backup.ts")).ledgerBackup(file, target, io)));
  ledger
    .command("query")
    .description("GPU time of a window, by team, state, pool ...; also while the ledger is written")
    .argument("<file>", "the ledger")
    .option("--from <time>", "begin: a date, a time, or a span before the end (7d, 12h)", "7d")
    .option("--to <time>", "end, itself not in it: a date or a time; default: the end of this hour (UTC)")
    .option(
      "--by <dimensions>",
      "day or hour, pool, nodePool, capacityType, team, queue, namespace, priorityClass, state, workload",
      "team,state",
    )
    .option("--where <name=value>", "only these; may be repeated, and `team=` means without a team", collected, [])
    .option("--limit <rows>", "groups that are shown, the largest first; default: 50 in a table, all as data", rowLimit)
    .addOption(
      new Option("-o, --output <format>", "a table for people, or data")
        .choices(["table", "json", "csv"])
        .default("table"),
    )
    .action(
      async (
        file: string,
        flags: {
          from: string;
          to?: string;
          by: string;
          where: readonly string[];
          limit?: number;
          output: "table" | "json" | "csv";
        },
      ) => {
        const { ledgerQuery } = await import("./query.ts");
        const limit = flags.limit ?? (flags.output === "table" ? 50 : Number.POSITIVE_INFINITY);
        done(ledgerQuery({ ...flags, limit, file, to: flags.to ?? null }, Date.now() / 1000, io));
      },
    );
  for (const command of ledger.commands) command.copyInheritedSettings(program);
}

function collected(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

function rowLimit(text: string): number {
  if (/^\d{1,7}$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError("Expected a whole number from 1 on.");
}
