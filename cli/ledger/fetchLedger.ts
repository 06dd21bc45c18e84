import { createWriteStream, statSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import { Agent, type Dispatcher, request } from "undici";
import { z } from "zod";
import { lookAtFile, putInPlace } from "../../exporter/accounts/ledger/ledgerFile.ts";
import { damageOf } from "../../exporter/accounts/ledger/openForWriting.ts";
import type { Problem } from "../../exporter/model/problem.ts";
import { clusterHeader } from "../../exporter/publish/http/clusterHeader.ts";
import { ledgerMediaType } from "../../exporter/publish/http/ledgerBackupRoute.ts";
import { authorization, readAnswer } from "../askExporter.ts";
import type { ExporterAddress } from "../exporterAddress.ts";

/** A copy of a running exporter's ledger, or why there is none. */
export type FetchedLedger =
  | { readonly ok: true; readonly bytes: number; readonly cluster: string | null }
  | { readonly ok: false; readonly error: string; readonly nextStep: string };

/** The longest time to the first byte: a large ledger is copied and checked before it is sent. */
const headersMilliseconds = 300_000;
const bodyMilliseconds = 60_000;

/** How often the ledger is asked for: another copy may be under way. */
const attempts = 6;
const longestWaitSeconds = 10;

/** Fetches the ledger of a running exporter into a new file, which gets its name when it is whole and sound. Never throws. */
export async function fetchLedger(address: ExporterAddress, target: string): Promise<FetchedLedger> {
  const unfinished = `${target}.unfinished`;
  let agent: Agent | null = null;
  try {
    const ca = address.caFile === null ? null : await readFile(address.caFile, "utf8");
    agent = new Agent(ca === null ? {} : { connect: { ca } });
    const fetched = await fetchInto(address, unfinished, agent);
    if (!fetched.ok) return fetched;
    const problem = checkCopy(unfinished);
    if (problem !== null) return failure(`${address.url} sent no sound ledger: ${problem.message}`, problem.nextStep);
    putInPlace(unfinished, target);
    return fetched;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return failure(
      `${address.url}: ${message}`,
      "Check that --url is the address of a Fairlead that runs, and that there is room for its ledger.",
    );
  } finally {
    await rm(unfinished, { force: true }).catch(() => {});
    await agent?.close().catch(() => {});
  }
}

async function fetchInto(address: ExporterAddress, file: string, dispatcher: Agent): Promise<FetchedLedger> {
  const base = address.url.endsWith("/") ? address.url : `${address.url}/`;
  const url = new URL("api/v1/ledger/backup", base);
  const headers = await authorization(address);
  const timeouts = { headersTimeout: headersMilliseconds, bodyTimeout: bodyMilliseconds };
  for (let left = attempts; ; left -= 1) {
    const response = await request(url, { dispatcher, headers, ...timeouts });
    if (response.statusCode === 200 && textOf(response.headers["content-type"]) === ledgerMediaType) {
      await pipeline(response.body, createWriteStream(file));
      return { ok: true, bytes: statSync(file).size, cluster: clusterIn(response.headers) };
    }
    const body = await response.body.text();
    const retry = Number(textOf(response.headers["retry-after"]) ?? "");
    if (response.statusCode !== 503 || !(retry > 0) || left <= 1) {
      const answer = readAnswer(url, response.statusCode, body, z.never());
      return answer.ok ? failure(`${address.url} answered nothing`, "Ask again.") : answer;
    }
    await wait(Math.min(retry, longestWaitSeconds) * 1000);
  }
}

function clusterIn(headers: Dispatcher.ResponseData["headers"]): string | null {
  const text = textOf(headers[clusterHeader.toLowerCase()]);
  try {
    return text === null ? null : decodeURIComponent(text);
  } catch {
    return null;
  }
}

function textOf(header: string | readonly string[] | undefined): string | null {
  return typeof header === "string" ? header : null;
}

function checkCopy(file: string): Problem | null {
  const found = lookAtFile(file);
  return found.kind === "refused" ? found.problem : damageOf(file);
}

const failure = (error: string, nextStep: string): FetchedLedger => ({ ok: false, error, nextStep });
