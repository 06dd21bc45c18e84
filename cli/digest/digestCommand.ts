import path from "node:path";
import { z } from "zod";
import { defaultConfig } from "../../exporter/config/defaults.ts";
import { recordSchemas } from "../../exporter/publish/document/schema.ts";
import { chatMessage, type PostFormat, summaryText } from "../../review/chat/chatMessage.ts";
import { digestLines, digestName } from "../../review/digest/digestLines.ts";
import { type DigestedWorkload, type IdleDigest, idleDigests } from "../../review/digest/idleDigests.ts";
import type { AnswerSource } from "../answerSource.ts";
import { askExporter, type ExporterAnswer } from "../askExporter.ts";
import type { ExporterAddress } from "../exporterAddress.ts";
import type { ExitCode, Io } from "../io.ts";
import { postMessage } from "../postMessage.ts";
import { readConfig } from "../readConfig.ts";
import { refuse } from "../showProblem.ts";

/** Options of `fairlead digest`. */
export interface DigestOptions extends Pick<AnswerSource, "configFile" | "exporter"> {
  /** Whether the messages are posted; otherwise they are only printed. */
  readonly isPosted: boolean;
  /** Folder with the files of the channels; `null`: none is given. */
  readonly folder: string | null;
  readonly format: PostFormat;
  readonly link: string | null;
}

/** `fairlead digest`: writes one message for each owner or team with idle GPUs, and prints it or posts it to its channel. */
export async function digestCommand(options: DigestOptions, io: Io): Promise<ExitCode> {
  const { configFile, exporter, isPosted, folder } = options;
  const config = configFile === null ? defaultConfig : await readConfig(configFile, io);
  if (config === null) return 1;
  const settings = config.digest;
  if (isPosted && settings.channels.length === 0 && settings.defaultChannel === undefined)
    return refuse(
      "no channel is configured",
      "Give --config.file FILE with digest.channels or digest.defaultChannel.",
      io,
    );
  if (isPosted && folder === null)
    return refuse("nothing says where the channels are", "Give --channels FOLDER: a file for each channel.", io);
  const asked = await allWorkloads(exporter);
  if (!asked.ok) return refuse(asked.error, asked.nextStep, io);
  const { workloads, now } = asked.answer;
  const digests = idleDigests(workloads, settings, now);
  const messages = digests.map((digest) => ({
    digest,
    lines: digestLines(digest, configFile === null ? null : config.cluster, now),
  }));
  if (messages.length === 0) io.out(`${nothingText(workloads, settings.minIdleHours)}\n`);
  if (isPosted && folder !== null) return await postAll(messages, folder, options, io);
  for (const { digest, lines } of messages) {
    io.out(`${digestName(digest)} -> ${digest.channel === null ? "no channel" : `channel ${digest.channel}`}\n`);
    io.out(`${summaryText({ lines, url: options.link }).trimEnd().replaceAll(/^/gm, "  ")}\n\n`);
  }
  if (messages.length > 0) io.out("Nothing is posted. Next step: --post --channels FOLDER posts them.\n");
  return 0;
}

function nothingText(workloads: readonly DigestedWorkload[], minIdleHours: number): string {
  const idle = workloads.filter((workload) => workload.idle.length > 0).length;
  const rest =
    idle === 0 ? "" : ` ${idle} ${idle === 1 ? "workload has GPUs" : "workloads have GPUs"} that are idle for less.`;
  return `No workload has had idle GPUs for ${minIdleHours} h (digest.minIdleHours).${rest}`;
}

interface Message {
  readonly digest: IdleDigest;
  readonly lines: readonly string[];
}

/** Posts the messages that have a channel. A message that cannot be posted is reported, and keeps no other message back. */
async function postAll(
  messages: readonly Message[],
  folder: string,
  { format, link }: Pick<DigestOptions, "format" | "link">,
  io: Io,
): Promise<ExitCode> {
  let code: ExitCode = 0;
  for (const { digest, lines } of messages) {
    const name = digestName(digest);
    if (digest.channel === null) {
      io.err(`fairlead: not posted, because no channel is configured for ${name}\n`);
      continue;
    }
    const file = path.join(folder, digest.channel);
    const posted = await postMessage(file, chatMessage(format, { lines, url: link }));
    if (posted.ok) io.err(`fairlead: posted the digest of ${name} to channel ${digest.channel}\n`);
    else code = refuse(`the digest of ${name} is not posted: ${posted.why}`, `check the address in ${file}.`, io);
  }
  return code;
}

const workloadList = z.object({
  at: z.iso.datetime(),
  total: z.number(),
  items: z.array(
    recordSchemas.workloads
      .pick({ kind: true, namespace: true, name: true, team: true, owner: true, idle: true })
      .loose(),
  ),
});

/** The most workloads that the API returns at once. */
const limit = 10_000;

/** All workloads, part by part, and the time of the exporter's last answer in milliseconds since the epoch. */
async function allWorkloads(
  exporter: ExporterAddress,
): Promise<ExporterAnswer<{ readonly workloads: readonly DigestedWorkload[]; readonly now: number }>> {
  const found = new Map<string, DigestedWorkload>();
  for (let offset = 0; ; offset += limit) {
    const parameters = { limit: `${limit}`, offset: `${offset}` };
    const asked = await askExporter(exporter, { path: "api/v1/workloads", parameters, schema: workloadList });
    if (!asked.ok) return asked;
    const { at, total, items } = asked.answer;
    // Between two parts a cycle may have moved a workload from one to the other.
    for (const item of items) found.set(JSON.stringify([item.namespace, item.kind, item.name, item.team]), item);
    if (items.length === 0 || offset + items.length >= total)
      return { ok: true, answer: { workloads: [...found.values()], now: Date.parse(at) } };
  }
}
