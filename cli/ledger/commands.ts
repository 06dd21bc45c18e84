import { type Command, InvalidArgumentError, Option } from "commander";
import { type QueueSubject, queueDimensions, queueSubjects } from "../../exporter/accounts/ledger/queueQuery.ts";
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
    .description(
      "GPU time, queues, waits or evictions of a window, by team, queue, day ...; also while the ledger is written",
    )
    .argument("<file>", "the ledger")
    .addOption(
      new Option("--of <subject>", "what to add up").choices(["gpu-time", ...queueSubjects]).default("gpu-time"),
    )
    .option("--from <time>", "begin: a date, a time, or a span before the end (7d, 12h)", "7d")
    .option("--to <time>", "end, itself not in it: a date or a time; default: the end of this hour (UTC)")
    .option(
      "--by <dimensions>",
      [
        "dimensions, separated by commas (default: team,state; of queues: queue,domain; of waits:",
        "queue,priorityClass,phase; of evictions: queue,reason).",
        "GPU time: day or hour, pool, nodePool, capacityType, team, queue, namespace, priorityClass, state, workload.",
        ...queueSubjects.map((subject) => `${subject}: ${queueDimensions[subject].join(", ")}.`),
      ].join(" "),
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
          of: "gpu-time" | QueueSubject;
          from: string;
          to?: string;
          by?: string;
          where: readonly string[];
          limit?: number;
          output: "table" | "json" | "csv";
        },
      ) => {
        const { ledgerQuery } = await import("./query.ts");
        const limit = flags.limit ?? (flags.output === "table" ? 50 : Number.POSITIVE_INFINITY);
        const asked = { ...flags, limit, file, to: flags.to ?? null, by: flags.by ?? null };
        done(ledgerQuery(asked, Date.now() / 1000, io));
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
