import { readFile } from "node:fs/promises";
import { Agent, request } from "undici";
import { z } from "zod";
import { parseJson } from "../exporter/kernel/parseJson.ts";
import type { ExporterAddress } from "./exporterAddress.ts";

/** What the exporter answers, or why it does not. */
export type ExporterAnswer<Answer> =
  | { readonly ok: true; readonly answer: Answer }
  | {
      readonly ok: false;
      readonly error: string;
      readonly nextStep: string;
      /** Present if the exporter has no review of the window yet. */
      readonly isNotYet?: true;
    };

const timeoutMilliseconds = 30_000;
/** The API's answer for a path that it does not know. */
const noSuchPath = "there is nothing at this path";
const nextStep = "Use the fairlead of the exporter's own version: its first page says which that is.";
const errorSchema = z.object({
  error: z.string(),
  nextStep: z.string(),
  isNotYet: z.literal(true).exactOptional(),
});

/** What is asked of the API, and what a good answer looks like. */
export interface ExporterQuestion<Answer> {
  /** The path below the exporter's address: `api/v1/explain`. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly schema: z.ZodType<Answer>;
}

/** Asks a running exporter. Never throws. */
export async function askExporter<Answer>(
  address: ExporterAddress,
  question: ExporterQuestion<Answer>,
): Promise<ExporterAnswer<Answer>> {
  const unreachable =
    "Start it with fairlead serve, or give its address with --url; --help says what else can be asked.";
  let agent: Agent | null = null;
  try {
    const base = address.url.endsWith("/") ? address.url : `${address.url}/`;
    const url = new URL(question.path, base);
    for (const [name, value] of Object.entries(question.parameters)) url.searchParams.set(name, value);
    agent = new Agent(address.caFile === null ? {} : { connect: { ca: await readFile(address.caFile, "utf8") } });
    const response = await request(url, {
      dispatcher: agent,
      headers: await authorization(address),
      headersTimeout: timeoutMilliseconds,
      bodyTimeout: timeoutMilliseconds,
    });
    return readAnswer(url, response.statusCode, await response.body.text(), question.schema);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, error: `${address.url}: ${message}`, nextStep: unreachable };
  } finally {
    await agent?.close().catch(() => {});
  }
}

/**
 * The headers with which the exporter lets a command in; empty without a user. Throws when the password file cannot be read.
 */
export async function authorization(address: ExporterAddress): Promise<Record<string, string>> {
  if (address.username === null) return {};
  const password = address.passwordFile === null ? "" : (await readFile(address.passwordFile, "utf8")).trimEnd();
  return { authorization: `Basic ${Buffer.from(`${address.username}:${password}`).toString("base64")}` };
}

/** The answer in a response of the exporter, or the reason why the response has none. */
export function readAnswer<Answer>(
  { host, pathname }: URL,
  status: number,
  body: string,
  schema: z.ZodType<Answer>,
): ExporterAnswer<Answer> {
  const value = parseJson(body);
  const answer = schema.safeParse(value);
  if (status === 200 && answer.success) return { ok: true, answer: answer.data };
  const failure = errorSchema.safeParse(value);
  if (failure.success && failure.data.error === noSuchPath)
    return { ok: false, error: `${host} has nothing at ${pathname}: it is a Fairlead of another version`, nextStep };
  if (failure.success) return { ok: false, ...failure.data };
  if (status === 401)
    return {
      ok: false,
      error: `${host} asks for a name and a password`,
      nextStep: "Give --username and --password-file.",
    };
  return {
    ok: false,
    error: `${host} answered with status ${status} and something that is not understood`,
    nextStep: `Check that --url is the address of a Fairlead. ${nextStep}`,
  };
}
