import { jsonText } from "../../exporter/publish/document/jsonText.ts";
import { explain } from "../../exporter/publish/explain/explain.ts";
import type { ExplainedKind } from "../../exporter/publish/explain/kinds.ts";
import { type Explanation, explanationSchema } from "../../exporter/publish/explain/schema.ts";
import { explanationText } from "../../exporter/publish/terminal/explanation.ts";
import type { AnswerSource } from "../answerSource.ts";
import { askExporter, type ExporterAnswer } from "../askExporter.ts";
import { analyseDump } from "../inspect/analyseDump.ts";
import { isAtWithoutDump } from "../inspect/atOption.ts";
import type { ExitCode, Io } from "../io.ts";
import { refuse } from "../showProblem.ts";

/** Options of `fairlead explain`. */
export interface ExplainOptions extends AnswerSource {
  readonly kind: ExplainedKind;
  readonly name: string;
  readonly output: "table" | "json";
}

/** Says how the numbers of a team, a pod or a node came about. */
export async function explainCommand(options: ExplainOptions, io: Io): Promise<ExitCode> {
  if (isAtWithoutDump(options, io)) return 2;
  const answer = options.dump.length > 0 ? await fromDump(options, io) : await fromExporter(options);
  if (typeof answer === "number") return answer;
  if (!answer.ok) return refuse(answer.error, answer.nextStep, io);
  const { answer: explanation } = answer;
  io.out(options.output === "json" ? jsonText(explanation) : `${explanationText(explanation, io.terminal)}\n`);
  return 0;
}

function fromExporter({ exporter, kind, name }: ExplainOptions): Promise<ExporterAnswer<Explanation>> {
  return askExporter(exporter, { path: "api/v1/explain", parameters: { kind, name }, schema: explanationSchema });
}

async function fromDump(options: ExplainOptions, io: Io): Promise<ExporterAnswer<Explanation> | ExitCode> {
  const { dump, at, configFile } = options;
  const moment = await analyseDump({ paths: dump, at, configFile }, io);
  if (!moment.ok) return moment.code;
  const { analysis, config } = moment;
  const { problems } = analysis.snapshot;
  const found = explain(options.kind, options.name, { analysis, settings: config, problems, accountedTime: null });
  return found.ok ? { ok: true, answer: found.explanation } : found;
}
