import { readFile } from "node:fs/promises";
import { createLedgerReader } from "../../exporter/accounts/ledger/ledgerReader.ts";
import { openToQuery } from "../../exporter/accounts/ledger/openToQuery.ts";
import { defaultConfig } from "../../exporter/config/defaults.ts";
import { createLedgerHistory } from "../../exporter/history/ledgerHistory.ts";
import type { ReviewFormat } from "../../exporter/publish/http/reviewRoute.ts";
import { buildReview } from "../../review/build/buildReview.ts";
import type { ReviewFailure, ReviewQuestion } from "../../review/build/source.ts";
import { chatMessage, type PostFormat } from "../../review/chat/chatMessage.ts";
import { type Review, reviewSchema } from "../../review/document/review.ts";
import { parseReview } from "../../review/json/parseReview.ts";
import { summaryLines } from "../../review/markdown/renderReviewSummary.ts";
import { mergeReviews } from "../../review/merge/mergeReviews.ts";
import { reviewRenderings } from "../../review/render.ts";
import { parseWindow, type WindowText } from "../../review/window.ts";
import { askExporter } from "../askExporter.ts";
import type { ExporterAddress } from "../exporterAddress.ts";
import { openHistory } from "../history/openHistory.ts";
import type { ExitCode, Io } from "../io.ts";
import { openOutput } from "../ledger/exportOutput.ts";
import { postMessage } from "../postMessage.ts";
import { readConfig } from "../readConfig.ts";
import { refuse, showProblem, withhold } from "../showProblem.ts";
import { mergeReplicas, type Replicas } from "./mergedReplicas.ts";

/** Options of `fairlead review`. */
export interface ReviewOptions {
  readonly window: WindowText;
  readonly team: string | null;
  readonly compare: number;
  readonly format: ReviewFormat;
  /** Path of the output file, in which `{window}` becomes the window's label; `null`: standard output. */
  readonly output: string | null;
  readonly places: ReviewPlaces;
  /** A running exporter that writes the review; `null`: none is asked. */
  readonly exporter: ExporterAddress | null;
  /** Several ledgers of one cluster that are merged; `null`: there are none. */
  readonly replicas: Replicas | null;
  /** Files of reviews that are merged. */
  readonly merge: readonly string[];
  /** Where a summary is posted: a file with the address of a webhook, and a link to the whole review; `null`: nowhere. */
  readonly summary: { readonly file: string; readonly format: PostFormat; readonly link: string | null } | null;
}

type Found =
  | { readonly ok: true; readonly review: Review }
  /** `isNotYet`: there is no review yet, but there will be one of a later window. This is an answer and no failure. */
  | { readonly ok: false; readonly lines: readonly string[]; readonly isNotYet?: true };

/** `fairlead review`: writes the review of a window, from a ledger, a server, a running exporter, or other reviews. */
export async function reviewCommand(options: ReviewOptions, now: number, io: Io): Promise<ExitCode> {
  const found = await findReview(options, now, io);
  if (found === null) return 1;
  if (!found.ok) {
    io.err(`fairlead: ${found.lines.join("\n")}\n`);
    return found.isNotYet === true ? 0 : 1;
  }
  const file = options.output?.replaceAll("{window}", found.review.window.label.replaceAll(" ", "_")) ?? null;
  const opened = openOutput(file, io);
  if (!opened.ok) return showProblem(opened.problem, io);
  const { body } = reviewRenderings[options.format](found.review);
  const problem = opened.output.write(body) ?? opened.output.finish();
  if (problem !== null) {
    opened.output.discard();
    return showProblem(problem, io);
  }
  if (file !== null) io.err(`fairlead: wrote ${file}\n`);
  return options.summary === null ? 0 : await post(found.review, options.summary, io);
}

async function findReview(options: ReviewOptions, now: number, io: Io): Promise<Found | null> {
  const { merge, exporter, places, replicas } = options;
  // With several ledgers, the configuration only names their cluster, its budgets and what is not charged.
  const isConfigured = places.configFile !== null && replicas === null;
  const isAsking = places.ledger !== null || places.prometheus !== null || isConfigured;
  if ([merge.length > 0, exporter !== null, replicas !== null, isAsking].filter((one) => one).length !== 1)
    return failure(
      "say where the review comes from, in one way",
      "Give --config.file FILE, --ledger FILE, --prometheus URL, --url URL, or --merge FILE FILE.",
    );
  if (merge.length > 0) return await merged(merge);
  if (replicas !== null) return await writtenOfReplicas(replicas, options, now, io);
  return exporter === null ? await written(options, now, io) : await askedFor(exporter, options);
}

async function written({ window, places, team, compare }: ReviewOptions, now: number, io: Io): Promise<Found | null> {
  const parsed = parseWindow(window, now);
  if (!parsed.ok) return failure(parsed.error, parsed.nextStep);
  const opened = await openReview(places, io);
  if (opened === null) return null;
  try {
    const onProgress = (step: string): void => io.err(`fairlead: ${step}\n`);
    const built = await buildReview({ ...opened.source, days: parsed.days, compare, team, now, onProgress });
    return built.ok ? built : noReview(built);
  } finally {
    await opened.close();
  }
}

/** Where a review takes its numbers from. */
interface ReviewPlaces {
  readonly ledger: string | null;
  readonly prometheus: string | null;
  /**
   * Path of the configuration file. It names the ledger or the server, if the other places do not, the cluster, its budgets,
   * and what nobody pays for.
   */
  readonly configFile: string | null;
  readonly cluster: string | null;
  /** What a ledger is called in messages, where that is not its path. */
  readonly ledgerName?: string;
}

/** The source of a review's numbers, and how to close it. */
interface OpenReview {
  readonly source: Pick<ReviewQuestion, "cluster" | "history" | "accounts" | "budgets" | "notCharged">;
  readonly close: () => Promise<void>;
}

/** The longest time for a question: the ledger of a large cluster is read from end to end for its jobs. */
const patienceMilliseconds = 300_000;

/** Opens the places of a review; `null` after it has been said why that cannot be done. */
async function openReview(places: ReviewPlaces, io: Io): Promise<OpenReview | null> {
  const config = places.configFile === null ? defaultConfig : await readConfig(places.configFile, io);
  if (config === null) return null;
  const { budgets, notCharged } = config.cost;
  const cluster = places.cluster ?? config.cluster;
  const ledger = places.ledger ?? (places.prometheus === null ? (config.ledger?.path ?? null) : null);
  if (places.ledger !== null && places.prometheus !== null)
    return withhold("there are several places to ask", "Give one of --ledger FILE and --prometheus URL.", io);
  if (ledger !== null) {
    const opened = openToQuery(ledger);
    if (!opened.ok) return withhold(opened.problem.message, opened.problem.nextStep, io);
    opened.db.close();
    const accounts = createLedgerReader(ledger, patienceMilliseconds);
    const history = createLedgerHistory(places.ledgerName ?? ledger, accounts.query);
    return { source: { cluster, history, accounts, budgets, notCharged }, close: accounts.close };
  }
  const server = await openHistory(
    {
      ledger: null,
      prometheus: places.prometheus,
      configFile: places.prometheus === null ? places.configFile : null,
      cluster: places.cluster ?? (places.configFile === null ? null : config.cluster),
    },
    io,
  );
  if (server === null) return null;
  return { source: { cluster, history: server.history, accounts: null, budgets, notCharged }, close: server.close };
}

async function writtenOfReplicas(
  replicas: Replicas,
  options: ReviewOptions,
  now: number,
  io: Io,
): Promise<Found | null> {
  const { places } = options;
  const parsed = parseWindow(options.window, now);
  if (!parsed.ok) return failure(parsed.error, parsed.nextStep);
  const merged = await mergeReplicas(replicas, io);
  if (merged === null) return null;
  const { ledger, name, cluster } = merged;
  const found = { ledger, ledgerName: name, cluster: places.cluster ?? (places.configFile === null ? cluster : null) };
  try {
    return await written({ ...options, places: { ...places, ...found } }, now, io);
  } finally {
    await merged.close();
  }
}

/** Asks the exporter, which writes the review from its own ledger. */
async function askedFor(exporter: ExporterAddress, { window, team, compare }: ReviewOptions): Promise<Found> {
  const given = { ...window, team, compare: `${compare}` };
  const texts = Object.entries(given).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  const isSaid = Object.values(window).some((text) => text !== null);
  // Without a window the exporter's page shows the current week, and a review the last one.
  const asked = isSaid ? texts : [...texts, ["week", "last"] as const];
  const parameters = { ...Object.fromEntries(asked), format: "json" };
  const answer = await askExporter(exporter, { path: "review", parameters, schema: reviewSchema });
  return answer.ok ? { ok: true, review: answer.answer } : noReview(answer);
}

async function merged(files: readonly string[]): Promise<Found> {
  const reviews: Review[] = [];
  for (const file of files) {
    let text: string;
    try {
      text = await readFile(file, "utf8");
    } catch (error) {
      return failure(error instanceof Error ? error.message : String(error), "Name files that can be read.");
    }
    const parsed = parseReview(text);
    if (!parsed.ok) {
      const lines = parsed.errors.map(
        ({ path, found, expected }) => `  ${path === "" ? "" : `${path}: `}found ${found}, expected ${expected}`,
      );
      return {
        ok: false,
        lines: [
          `${file} is no review that can be merged`,
          ...lines,
          "Next step: write it again with fairlead review --format json.",
        ],
      };
    }
    reviews.push(parsed.review);
  }
  const result = mergeReviews(reviews);
  return result.ok ? result : failure(result.error, result.nextStep);
}

async function post(review: Review, summary: NonNullable<ReviewOptions["summary"]>, io: Io): Promise<ExitCode> {
  const message = chatMessage(summary.format, { lines: summaryLines(review), url: summary.link });
  const posted = await postMessage(summary.file, message);
  if (posted.ok) {
    io.err("fairlead: posted the summary\n");
    return 0;
  }
  if (posted.what === "file") return refuse(posted.why, "name a file that holds the webhook's address.", io);
  return refuse(
    `the review is written, but its summary is not posted: ${posted.why}`,
    `check the address in ${summary.file}.`,
    io,
  );
}

/** Why there is no review. */
function noReview({ error, nextStep, isNotYet }: ReviewFailure): Found {
  return { ...failure(error, nextStep), ...(isNotYet === true ? { isNotYet } : {}) };
}

const failure = (error: string, nextStep: string): Found => ({ ok: false, lines: [error, `Next step: ${nextStep}`] });
