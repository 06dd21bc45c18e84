import { readFile } from "node:fs/promises";
import type { ReviewFormat } from "../../exporter/publish/http/reviewRoute.ts";
import { buildReview } from "../../review/build/buildReview.ts";
import { type Review, reviewSchema } from "../../review/document/review.ts";
import { parseReview } from "../../review/json/parseReview.ts";
import { renderReviewSummary } from "../../review/markdown/renderReviewSummary.ts";
import { mergeReviews } from "../../review/merge/mergeReviews.ts";
import { reviewRenderings } from "../../review/render.ts";
import { parseWindow, type WindowText } from "../../review/window.ts";
import { askExporter } from "../askExporter.ts";
import type { ExporterAddress } from "../exporterAddress.ts";
import type { ExitCode, Io } from "../io.ts";
import { openOutput } from "../ledger/exportOutput.ts";
import { mergeReplicas, type Replicas } from "./mergedReplicas.ts";
import { openReview, type ReviewPlaces } from "./openReview.ts";
import { postSummary } from "./postSummary.ts";

/** Options of `fairlead review`. */
export interface ReviewOptions {
  readonly window: WindowText;
  readonly team: string | null;
  readonly compare: number;
  readonly format: ReviewFormat;
  /** File; `{window}` in it is the window's label. `null`: standard output. */
  readonly output: string | null;
  readonly places: ReviewPlaces;
  /** A running exporter that writes it. */
  readonly exporter: ExporterAddress | null;
  /** Several ledgers of one cluster that are made one. */
  readonly replicas: Replicas | null;
  /** Files that are merged. */
  readonly merge: readonly string[];
  /** File with the address of a webhook; `link`: where the whole review is. */
  readonly summary: { readonly file: string; readonly link: string | null } | null;
}

type Found = { readonly ok: true; readonly review: Review } | { readonly ok: false; readonly lines: readonly string[] };

/** `fairlead review`: writes the review of a window, from a ledger, a server, a running exporter, or other reviews. */
export async function reviewCommand(options: ReviewOptions, now: number, io: Io): Promise<ExitCode> {
  const found = await findReview(options, now, io);
  if (found === null) return 1;
  if (!found.ok) return refuse(found.lines, io);
  const file = options.output?.replaceAll("{window}", found.review.window.label.replaceAll(" ", "_")) ?? null;
  const opened = openOutput(file, io);
  if (!opened.ok) return refuse([opened.problem.message, `Next step: ${opened.problem.nextStep}`], io);
  const { body } = reviewRenderings[options.format](found.review);
  const problem = opened.output.write(body) ?? opened.output.finish();
  if (problem !== null) {
    opened.output.discard();
    return refuse([problem.message, `Next step: ${problem.nextStep}`], io);
  }
  if (file !== null) io.err(`fairlead: wrote ${file}\n`);
  return options.summary === null ? 0 : await post(found.review, options.summary, io);
}

async function findReview(options: ReviewOptions, now: number, io: Io): Promise<Found | null> {
  const { merge, exporter, places, replicas } = options;
  // Beside several ledgers, the configuration only says whose they are, and what is paid.
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
    return built.ok ? built : failure(built.error, built.nextStep);
  } finally {
    await opened.close();
  }
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

/** The exporter writes it: its ledger is nobody else's to open. */
async function askedFor(exporter: ExporterAddress, { window, team, compare }: ReviewOptions): Promise<Found> {
  const given = { ...window, team, compare: `${compare}` };
  const texts = Object.entries(given).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  const isSaid = Object.values(window).some((text) => text !== null);
  // Without a window the exporter's page is of the week that goes on, and a review of the last one.
  const asked = isSaid ? texts : [...texts, ["week", "last"] as const];
  const parameters = { ...Object.fromEntries(asked), format: "json" };
  const answer = await askExporter(exporter, { path: "review", parameters, schema: reviewSchema });
  return answer.ok ? { ok: true, review: answer.answer } : failure(answer.error, answer.nextStep);
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
  let address: string;
  try {
    address = (await readFile(summary.file, "utf8")).trim();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return refuse([why, "Next step: name a file that holds the webhook's address."], io);
  }
  const wrong = await postSummary(
    address,
    renderReviewSummary(review, summary.link === null ? {} : { url: summary.link }),
  );
  if (wrong !== null)
    return refuse(
      [
        `the review is written, but its summary is not posted: ${wrong}`,
        `Next step: check the address in ${summary.file}.`,
      ],
      io,
    );
  io.err("fairlead: posted the summary\n");
  return 0;
}

const failure = (error: string, nextStep: string): Found => ({ ok: false, lines: [error, `Next step: ${nextStep}`] });

function refuse(lines: readonly string[], io: Io): ExitCode {
  io.err(`fairlead: ${lines.join("\n")}\n`);
  return 1;
}
