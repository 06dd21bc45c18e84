import { type Command, InvalidArgumentError, Option } from "commander";
import { defaultCompare, maxCompare, reviewFormats } from "../../exporter/publish/http/reviewRoute.ts";
import type { ExporterAddress } from "../askExporter.ts";
import type { ExitCode, Io } from "../io.ts";
import type { ReviewOptions } from "./reviewCommand.ts";

type Format = (typeof reviewFormats)[number];

interface ReviewFlags {
  readonly week?: string;
  readonly month?: string | true;
  readonly from?: string;
  readonly to?: string;
  readonly team?: string;
  readonly compare: number;
  readonly format: Format;
  readonly output?: string;
  readonly ledger?: string;
  readonly prometheus?: string;
  readonly cluster?: string;
  readonly "config.file"?: string;
  readonly url?: string;
  readonly username?: string;
  readonly passwordFile?: string;
  readonly caFile?: string;
  readonly merge?: readonly string[];
  readonly postSummaryFile?: string;
  readonly link?: string;
}

/** Adds `fairlead review`. */
export function addReview(program: Command, io: Io, done: (code: ExitCode) => void): void {
  program
    .command("review")
    .description("write the capacity review of a week or month: one page that a meeting can be held from")
    .option("--week <week>", "a week (ISO 8601): 2026-W46; default: the last one that is over")
    .option("--month [month]", "a calendar month: 2026-10; without a value, the last one that is over")
    .option("--from <day>", "first day of another window: 2026-11-09")
    .option("--to <day>", "day after its last one")
    .option("--team <team>", "only what one team held, waited for and paid")
    .option("--compare <windows>", "windows before it to compare with", windows, defaultCompare)
    .addOption(new Option("-f, --format <format>", "how it is written").choices(reviewFormats).default("markdown"))
    .option("-o, --output <file>", "file to write it to, {window} is 2026-W46 or such; default: standard output")
    .option("--ledger <file>", "ask a ledger, also while it is written")
    .option("--prometheus <url>", "ask a server with Prometheus' HTTP API: GPU time, cost and teams only")
    .option("--config.file <file>", "ask what the configuration names; also cluster and budgets")
    .option("--cluster <name>", "name of the cluster, where the configuration does not say it")
    .option("--url <url>", "ask a running exporter")
    .option("--username <name>", "user of the exporter's web configuration")
    .option("--password-file <file>", "file that holds the user's password")
    .option("--ca-file <file>", "CA certificates that sign the exporter's certificate")
    .option("--merge <file...>", "make one review of those of several clusters, written with --format json")
    .option("--post-summary-file <file>", "also post a summary to the webhook whose address is in this file")
    .option("--link <url>", "where the summary's readers find the whole review")
    .action(async (flags: ReviewFlags) => {
      const { reviewCommand } = await import("./reviewCommand.ts");
      done(await reviewCommand(optionsOf(flags), Date.now() / 1000, io));
    });
}

function optionsOf(flags: ReviewFlags): ReviewOptions {
  const { week = null, from = null, to = null, team = null, output = null, ledger = null, prometheus = null } = flags;
  const { compare, format, merge = [], cluster = null, postSummaryFile, link = null } = flags;
  return {
    window: { week, month: flags.month === true ? "" : (flags.month ?? null), from, to },
    ...{ team, compare, format, output, merge },
    places: { ledger, prometheus, configFile: flags["config.file"] ?? null, cluster },
    exporter: exporterOf(flags),
    summary: postSummaryFile === undefined ? null : { file: postSummaryFile, link },
  };
}

function exporterOf({ url, username, passwordFile, caFile }: ReviewFlags): ExporterAddress | null {
  if (url === undefined) return null;
  return { url, username: username ?? null, passwordFile: passwordFile ?? null, caFile: caFile ?? null };
}

function windows(text: string): number {
  if (/^\d{1,2}$/.test(text) && Number(text) <= maxCompare) return Number(text);
  throw new InvalidArgumentError(`Expected a whole number from 0 to ${maxCompare}.`);
}
