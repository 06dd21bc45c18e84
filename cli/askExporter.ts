import { readFile } from "node:fs/promises";
import { Agent, request } from "undici";
import { z } from "zod";
import type { ExplainedKind } from "../../exporter/publish/explain/kinds.ts";
import { type Explanation, explanationSchema } from "../../exporter/publish/explain/schema.ts";

/** A running exporter, and how it lets us in. */
export interface ExporterAddress {
  readonly url: string;
  readonly username: string | null;
  readonly passwordFile: string | null;
  readonly caFile: string | null;
}

/** What the exporter answers, or why it does not. */
export type ExporterAnswer =
  | { readonly ok: true; readonly explanation: Explanation }
  | { readonly ok: false; readonly error: string; readonly nextStep: string };

const timeoutMilliseconds = 30_000;
const errorSchema = z.object({ error: z.string(), nextStep: z.string() });

/** Asks a running exporter for an explanation. Never throws. */
export async function askExporter(
  address: ExporterAddress,
  kind: ExplainedKind,
  name: string,
): Promise<ExporterAnswer> {
  const unreachable = `Start it with fairlead serve, give its address with --url, or explain a dump with --dump.`;
  let agent: Agent | null = null;
  try {
    const base = address.url.endsWith("/") ? address.url : `${address.url}/`;
    const url = new URL("api/v1/explain", base);
    url.searchParams.set("kind", kind);
    url.searchParams.set("name", name);
    agent = new Agent(address.caFile === null ? {} : { connect: { ca: await readFile(address.caFile, "utf8") } });
    const response = await request(url, {
      dispatcher: agent,
      headers: await authorization(address),
      headersTimeout: timeoutMilliseconds,
      bodyTimeout: timeoutMilliseconds,
    });
    return readAnswer(url.host, response.statusCode, await response.body.text());
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, error: `${address.url}: ${message}`, nextStep: unreachable };
  } finally {
    await agent?.close().catch(() => {});
  }
}

async function authorization(address: ExporterAddress): Promise<Record<string, string>> {
  if (address.username === null) return {};
  const password = address.passwordFile === null ? "" : (await readFile(address.passwordFile, "utf8")).trimEnd();
  return { authorization: `Basic ${Buffer.from(`${address.username}:${password}`).toString("base64")}` };
}

function readAnswer(host: string, status: number, body: string): ExporterAnswer {
  const value = parseJson(body);
  const explanation = explanationSchema.safeParse(value);
  if (status === 200 && explanation.success) return { ok: true, explanation: explanation.data };
  const failure = errorSchema.safeParse(value);
  if (failure.success) return { ok: false, ...failure.data };
  if (status === 401)
    return {
      ok: false,
      error: `${host} asks for a name and a password`,
      nextStep: "Give --username and --password-file.",
    };
  return {
    ok: false,
    error: `${host} answered with status ${status} and something that is no explanation`,
    nextStep: "Check that --url is the address of a Fairlead of this version.",
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
