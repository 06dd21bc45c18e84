import { type Command, Option } from "commander";
import { type LedgerTable, ledgerTables } from "../../exporter/accounts/ledger/ledgerTableQuery.ts";
import { dimensionsOf } from "../../exporter/accounts/ledger/ledgerTableSources.ts";
import type { ExitCode, Io } from "../io.ts";
import { collected, outputOption, wholeNumber } from "../options.ts";
import { addBackup, addMerge, addRestore } from "./copyCommands.ts";
import type { LedgerExportOptions } from "./export.ts";

/** Adds `fairlead ledger check|query|backup|merge|restore|export`. */
export function addLedger(program: Command, io: Io, done: (code: ExitCode) => void): void {
  const ledger = program
    .command("ledger")
    .description("look into the ledger: the record of GPU time that outlives restarts");
  ledger
    .command("check")
    .description("check that a ledger is sound and that its accounts close")
    .argument("<file>", "the ledger (ledger.path of the configuration)")
    .action(async (file: string) => done((await import("./check.ts")).ledgerCheck(file, io)));
  addBackup(ledger, io, done);
  addMerge(ledger, io, done);
  addRestore(ledger, io, done);
  ledger
    .command("query")
    .description(
      "GPU time, queues, quota domains, waits, evictions, failures, nodes, placement, recommendations or prices of a window, by team, queue, day ...; also while the ledger is written",
    )
    .argument("<file>", "the ledger")
    .addOption(
      new Option("--of <subject>", "what to add up")
        .choices(["gpu-time", ...ledgerTables, "prices"])
        .default("gpu-time"),
    )
    .option("--from <time>", "begin: a date, a time, or a span before the end (7d, 12h)", "7d")
    .option("--to <time>", "end, itself not in it: a date or a time; default: the end of this hour (UTC)")
    .option(
      "--by <dimensions>",
      [
        "dimensions, separated by commas (default: team,state; of queues: queue,domain; of waits:",
        "queue,priorityClass,phase; of evictions: queue,reason; of failures: team,error; of nodes: nodePool,pool,capacityType,state,currency;",
        "of nodeStreaks: node,nodePool,pool,state; of domains: domain; of health: cause,currency; of outages: node,gpu,cause,teams; of serving: workload,team; of placement: pool; of recommendations: kind,state).",
        "GPU time: day or hour, pool, nodePool, capacityType, team, queue, namespace, priorityClass, state, currency,",
        "workload. Prices are listed one by one.",
        ...ledgerTables.map((subject) => `${subject}: ${dimensionsOf(subject).join(", ")}.`),
      ].join(" "),
    )
    .option("--where <name=value>", "only these; may be repeated, and `team=` means without a team", collected, [])
    .option("--limit <rows>", "groups that are shown, the largest first; default: 50 in a table, all as data", rowLimit)
    .addOption(outputOption("a table for people, or data", ["table", "json", "csv"]))
    .action(
      async (
        file: string,
        flags: {
          of: "gpu-time" | "prices" | LedgerTable;
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
  addExport(ledger, io, done);
  for (const command of ledger.commands) command.copyInheritedSettings(program);
}

function addExport(ledger: Command, io: Io, done: (code: ExitCode) => void): void {
  ledger
    .command("export")
    .description("write the cost of a window, row by row, for other tools; also while the ledger is written")
    .argument("[file]", "the ledger; default: ledger.path of the configuration")
    .option("--config.file <file>", "configuration file (YAML): the cluster's name, and what is not charged")
    .addOption(
      new Option("--format <format>", "FOCUS 1.2 as CSV, or Fairlead's own columns")
        .choices(["focus", "csv", "json"])
        .default("focus"),
    )
    .option("--from <time>", "begin: a date, a time, or a span before the end (7d, 12h)", "7d")
    .option("--to <time>", "end, itself not in it: a date or a time; default: the end of this day or hour (UTC)")
    .addOption(
      new Option("--granularity <period>", "time of one row; workloads are kept by the day")
        .choices(["day", "hour"])
        .default("day"),
    )
    .addOption(
      new Option("--charge <basis>", "teams pay for what was allocated to them, or only for what they used")
        .choices(["allocation", "use"])
        .default("allocation"),
    )
    .option("--output <file>", "file to write, replaced when all is written; default: standard output")
    .option("--provider <name>", "who provides the GPUs, for FOCUS", "GPU platform")
    .action(
      async (
        file: string | undefined,
        flags: Pick<LedgerExportOptions, "format" | "from" | "granularity" | "charge" | "provider"> & {
          to?: string;
          output?: string;
          "config.file"?: string;
        },
      ) => {
        const { ledgerExport } = await import("./export.ts");
        const { to = null, output = null } = flags;
        const asked = { ...flags, file: file ?? null, to, output, configFile: flags["config.file"] ?? null };
        done(await ledgerExport(asked, Date.now() / 1000, io));
      },
    );
}

const rowLimit = wholeNumber(1, 9_999_999, "from 1 on");
