import { type Command, Option } from "commander";
import { defaultCompare, maxCompare, reviewFormats } from "../../exporter/publish/http/reviewRoute.ts";
import { type PostFormat, postFormats } from "../../review/chat/chatMessage.ts";
import { type ExporterAddress, type ExporterFlags, exporterAt } from "../exporterAddress.ts";
import type { ExitCode, Io } from "../io.ts";
import { wholeNumber, withLogin } from "../options.ts";
import type { Replicas } from "./mergedReplicas.ts";
import type { ReviewOptions } from "./reviewCommand.ts";

type Format = (typeof reviewFormats)[number];

interface ReviewFlags extends ExporterFlags {
  readonly week?: string;
  readonly month?: string | true;
  readonly from?: string;
  readonly to?: string;
  readonly team?: string;
  readonly compare: number;
  readonly format: Format;
  readonly output?: string;
  readonly ledger?: readonly string[];
  readonly prometheus?: string;
  readonly cluster?: string;
  readonly "config.file"?: string;
  readonly url?: readonly string[];
  readonly merge?: readonly string[];
  readonly postSummaryFile?: string;
  readonly postFormat: PostFormat;
  readonly link?: string;
}

/** Adds `fairlead review`. */
export function addReview(program: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = program
    .command("review")
    .description("write the capacity review of a week or month: one page that a meeting can be held from")
    .option("--week <week>", "a week (ISO 8601): 2026-W46; default: the last one that is over")
    .option("--month [month]", "a calendar month: 2026-10; without a value, the last one that is over")
    .option("--from <day>", "first day of another window: 2026-11-09")
    .option("--to <day>", "day after its last one")
    .option("--team <team>", "only what one team was allocated, waited for and paid")
    .option("--compare <windows>", "windows before it to compare with", windows, defaultCompare)
    .addOption(new Option("-f, --format <format>", "how it is written").choices(reviewFormats).default("markdown"))
    .option("-o, --output <file>", "file to write it to, {window} is 2026-W46 or such; default: standard output")
    .option("--ledger <file...>", "ask a ledger, also while it is written; of several replicas, all of them")
    .option("--prometheus <url>", "ask a server with Prometheus' HTTP API: GPU time, cost and teams only")
    .option("--config.file <file>", "ask what the configuration names; also cluster and budgets")
    .option("--cluster <name>", "name of the cluster, where the configuration does not say it")
    .option("--url <url...>", "ask a running exporter; of several replicas, fetch the ledgers of all");
  withLogin(command)
    .option("--merge <file...>", "make one review of those of several clusters, written with --format json")
    .option("--post-summary-file <file>", "also post a summary to the webhook whose address is in this file")
    .addOption(
      new Option(
        "--post-format <format>",
        "how the summary is posted: a text as Slack and Mattermost take it, blocks for Slack, or what a workflow of Teams takes",
      )
        .choices(postFormats)
        .default("text"),
    )
    .option("--link <url>", "where the summary's readers find the whole review")
    .action(async (flags: ReviewFlags) => {
      const { reviewCommand } = await import("./reviewCommand.ts");
      done(await reviewCommand(optionsOf(flags), Date.now() / 1000, io));
    });
}

function optionsOf(flags: ReviewFlags): ReviewOptions {
  const { week = null, from = null, to = null, team = null, output = null, ledger = [], prometheus = null } = flags;
  const { compare, format, merge = [], cluster = null, postSummaryFile, link = null, url = [] } = flags;
  return {
    window: { week, month: flags.month === true ? "" : (flags.month ?? null), from, to },
    team,
    compare,
    format,
    output,
    merge,
    places: {
      ledger: url.length > 1 ? (ledger[0] ?? null) : onlyOne(ledger),
      prometheus,
      configFile: flags["config.file"] ?? null,
      cluster,
    },
    exporter: onlyOne(exportersOf(flags)),
    replicas: replicasOf(flags),
    summary: postSummaryFile === undefined ? null : { file: postSummaryFile, format: flags.postFormat, link },
  };
}

function exportersOf({ url = [], ...flags }: ReviewFlags): readonly ExporterAddress[] {
  return url.map((one) => exporterAt(one, flags));
}

/** Several exporters or several ledgers; `null` if there is at most one of each, which needs no merging. */
function replicasOf(flags: ReviewFlags): Replicas | null {
  const exporters = exportersOf(flags);
  if (exporters.length > 1) return { kind: "running", exporters };
  const files = flags.ledger ?? [];
  return files.length > 1 ? { kind: "files", files } : null;
}

function onlyOne<Value>(values: readonly Value[]): Value | null {
  return values.length === 1 ? (values[0] ?? null) : null;
}

const windows = wholeNumber(0, maxCompare, `from 0 to ${maxCompare}`);
