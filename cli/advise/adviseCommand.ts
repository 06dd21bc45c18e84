import { stringify } from "yaml";
import { z } from "zod";
import { adviseOnce } from "../../exporter/advice/adviser.ts";
import type { Advice, AdviceStep, Recommendation } from "../../exporter/model/recommendation.ts";
import { adviceMarkdown, recommendationMarkdown } from "../../exporter/publish/advice/adviceMarkdown.ts";
import { jsonText, sensibleDigits } from "../../exporter/publish/document/jsonText.ts";
import {
  recommendationRecord,
  recommendationRecords,
  withheldRecords,
} from "../../exporter/publish/document/recommendationRecords.ts";
import { recommendation, withheldAdvice } from "../../exporter/publish/document/recommendationSchema.ts";
import type { RecommendationRecord } from "../../exporter/publish/document/schema.ts";
import { adviceText } from "../../exporter/publish/terminal/adviceLines.ts";
import type { Terminal } from "../../exporter/publish/terminal/layout.ts";
import { whatIfText } from "../../exporter/publish/terminal/whatIfText.ts";
import type { AnswerSource } from "../answerSource.ts";
import { askExporter, type ExporterAnswer } from "../askExporter.ts";
import type { ExporterAddress } from "../exporterAddress.ts";
import { analyseDump } from "../inspect/analyseDump.ts";
import { isAtWithoutDump } from "../inspect/atOption.ts";
import { saysNoGpus } from "../inspect/noGpus.ts";
import type { ExitCode, Io } from "../io.ts";
import { refuse } from "../showProblem.ts";

/** Options of `fairlead advise`. */
export interface AdviseOptions extends AnswerSource {
  /** Id of the recommendation to show in full; `null`: all are listed. */
  readonly whatIf: string | null;
  readonly output: "table" | "json" | "yaml" | "markdown";
}

/** Advice, and the moment that its ages are counted from. */
interface KnownAdvice {
  readonly advice: Advice;
  readonly now: number;
}

/** Prints what is recommended: all recommendations, or one in full. */
export async function adviseCommand(options: AdviseOptions, io: Io): Promise<ExitCode> {
  if (isAtWithoutDump(options, io)) return 2;
  const known = options.dump.length > 0 ? await fromDump(options, io) : await fromExporter(options.exporter);
  if (typeof known === "number") return known;
  if (!known.ok) return refuse(known.error, known.nextStep, io);
  const { advice, now } = known.answer;
  if (options.whatIf === null) {
    io.out(allText(advice, now, options.output, io.terminal));
    return 0;
  }
  const found = advice.recommendations.find(({ id }) => id === options.whatIf);
  if (found === undefined)
    return refuse(`there is no recommendation ${options.whatIf}`, "fairlead advise lists them with their ids.", io);
  io.out(oneText(found, now, options.output, io.terminal));
  return 0;
}

function allText(advice: Advice, now: number, output: AdviseOptions["output"], terminal: Terminal): string {
  if (output === "table") return `${adviceText(advice, now, terminal)}\n`;
  if (output === "markdown") return adviceMarkdown(advice);
  return dataText({ recommendations: recommendationRecords(advice), withheld: withheldRecords(advice) }, output);
}

function oneText(one: Recommendation, now: number, output: AdviseOptions["output"], terminal: Terminal): string {
  if (output === "table") return `${whatIfText(one, now, terminal)}\n`;
  return output === "markdown" ? recommendationMarkdown(one) : dataText(recommendationRecord(one), output);
}

const dataText = (data: unknown, output: "json" | "yaml"): string =>
  output === "json" ? jsonText(data) : stringify(data, sensibleDigits, { aliasDuplicateObjects: false });

async function fromDump(options: AdviseOptions, io: Io): Promise<ExporterAnswer<KnownAdvice> | ExitCode> {
  const { dump, at, configFile } = options;
  const moment = await analyseDump({ paths: dump, at, configFile }, io);
  if (!moment.ok) return moment.code;
  const { analysis, config } = moment;
  if (saysNoGpus(moment, io)) return 1;
  const advice = adviseOnce(analysis, config.advice, config.interval);
  return { ok: true, answer: { advice, now: analysis.snapshot.at } };
}

const recommendationList = z.object({ at: z.iso.datetime(), items: z.array(recommendation) });
const withheldList = z.object({ items: z.array(withheldAdvice) });
/** The parameters of each question. The API returns no more entries than this at once. */
const parameters = { limit: "10000" };

async function fromExporter(exporter: ExporterAddress): Promise<ExporterAnswer<KnownAdvice>> {
  const open = await askExporter(exporter, {
    path: "api/v1/recommendations",
    parameters,
    schema: recommendationList,
  });
  if (!open.ok) return open;
  const withheld = await askExporter(exporter, { path: "api/v1/withheld", parameters, schema: withheldList });
  if (!withheld.ok) return withheld;
  const advice: Advice = {
    recommendations: open.answer.items.map(recommendationOf),
    withheld: withheld.answer.items,
    reducibleFragmentation: new Map(),
  };
  return { ok: true, answer: { advice, now: Date.parse(open.answer.at) / 1000 } };
}

const seconds = (moment: string): number => Date.parse(moment) / 1000;

/** A recommendation of the API in the form that the model has. */
export function recommendationOf(record: RecommendationRecord): Recommendation {
  const { firstSeen, opened, computed, validUntil, closed, measured, aftermath, alerts, steps, ...rest } = record;
  return {
    ...rest,
    fromTeam: record.fromTeam ?? "",
    forTeam: record.forTeam ?? "",
    queue: record.queue ?? "",
    pool: record.pool ?? "",
    steps: steps.map((step) => ({ ...step, request: requestOf(step.request) })),
    firstSeenAt: seconds(firstSeen),
    openedAt: seconds(opened),
    computedAt: seconds(computed),
    validUntil: seconds(validUntil),
    stalledSince: record.stalledSince === null ? undefined : seconds(record.stalledSince),
    closedAt: closed === null ? null : seconds(closed),
    measured: measured === null ? null : measuredOf(measured),
    aftermath: aftermath === null ? null : { ...aftermath, at: seconds(aftermath.at) },
    alerts: alerts.map(({ since, ...alert }) => ({ ...alert, startsAt: seconds(since) })),
  };
}

function measuredOf(measured: NonNullable<RecommendationRecord["measured"]>): Recommendation["measured"] {
  const { at, undone } = measured;
  return { ...measured, at: seconds(at), undone: undone === null ? null : { ...undone, at: seconds(undone.at) } };
}

type Request = AdviceStep["request"];

function requestOf({ contentType, ...rest }: RecommendationRecord["steps"][number]["request"]): Request {
  const known = contentTypes.find((type) => type === contentType);
  return { ...rest, contentType: known ?? null };
}

const contentTypes = [
  "application/json",
  "application/merge-patch+json",
  "application/json-patch+json",
  "application/strategic-merge-patch+json",
] as const;
