import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps, type Agent as TlsAgent } from "node:https";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { convertLegacyHttpOptions } from "@opentelemetry/otlp-exporter-base/node-http";
import { connectionFault, headersFault, type PostResult, statusFault } from "./postResult.ts";

/** Where one kind of telemetry goes, and how. */
interface PostOptions {
  /** The address, from the settings `otlp`, as are the headers and their file. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly headersFile: string | null;
  /** Seconds within which a request must have been answered; a shorter `OTEL_EXPORTER_OTLP_TIMEOUT` wins. */
  readonly timeoutSeconds: number;
  readonly userAgent: string;
  /** Ends requests that are under way. */
  readonly signal: AbortSignal;
}

/** Posts one OTLP request in protobuf; never rejects. */
export type Post = (body: Uint8Array) => Promise<PostResult>;

const maxAnswerBytes = 64 * 1024;
const compress = promisify(gzip);

/**
 * Posts to one signal of an endpoint. The SDK merges the environment's `OTEL_EXPORTER_OTLP_*` (headers, certificates,
 * compression, timeout) into the configuration, which wins. The SDK's own transport is not used: it does not report which
 * status an endpoint answered and how many points it refused, and cannot be ended at shutdown.
 */
export function createPost(signalName: "METRICS" | "TRACES", options: PostOptions): Post & { close(): void } {
  const path = signalName === "METRICS" ? "v1/metrics" : "v1/traces";
  const target = new URL(options.endpoint);
  target.pathname = `${target.pathname.replace(/\/+$/, "")}/${path}`;
  const required = { "content-type": "application/x-protobuf" };
  const resolved = convertLegacyHttpOptions({ url: target.href }, signalName, path, required);
  const timeoutMillis = Math.min(resolved.timeoutMillis, options.timeoutSeconds * 1000);
  const zipped = resolved.compression === "gzip";
  let agent: Agent | TlsAgent | null = null;

  async function headersOf(length: number): Promise<Headers> {
    const headers = new Headers(await resolved.headers());
    const own = await readHeaders(options.headers, options.headersFile, (file) => readFile(file, "utf8"));
    for (const [name, value] of own) headers.set(name, value);
    headers.set("user-agent", options.userAgent);
    headers.set("content-type", required["content-type"]);
    headers.set("content-length", `${length}`);
    if (zipped) headers.set("content-encoding", "gzip");
    return headers;
  }

  async function send(body: Uint8Array): Promise<PostResult> {
    agent ??= await resolved.agentFactory(target.protocol);
    const kept = agent;
    const payload = zipped ? await compress(body) : body;
    const headers = await headersOf(payload.length).catch(headersFault);
    if (!(headers instanceof Headers)) return headers;
    const deadline = AbortSignal.timeout(timeoutMillis);
    const signal = AbortSignal.any([deadline, options.signal]);
    const request = target.protocol === "https:" ? requestHttps : requestHttp;
    const open = () => request(target, { method: "POST", agent: kept, headers: Object.fromEntries(headers), signal });
    try {
      return await exchangeOnLiveConnection(open, payload, signal);
    } catch (error) {
      if (deadline.aborted) return connectionFault(new Error(`no answer within ${timeoutMillis / 1000} s`));
      return connectionFault(options.signal.aborted ? new Error("Fairlead is ending") : error);
    }
  }

  const post = (body: Uint8Array) => send(body).catch(connectionFault);
  return Object.assign(post, { close: () => agent?.destroy() });
}

/** Characters that a header's name may have (RFC 9110, section 5.6.2). */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\x20-\x7e]*$/;

/**
 * Headers of a request: those of the configuration, and those of its file, which has one `Name: value` in a line and is read
 * for each request, so that a rotated secret is picked up. Rejects if a line is not a header; the error does not contain the
 * text of the file.
 */
async function readHeaders(
  fixed: Readonly<Record<string, string>>,
  file: string | null,
  readTextFile: (path: string) => Promise<string>,
): Promise<ReadonlyMap<string, string>> {
  const headers = new Map(Object.entries(fixed).map(([name, value]) => [name.toLowerCase(), value] as const));
  if (file === null) return headers;
  const lines = (await readTextFile(file)).split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).trim();
    if (!headerName.test(name) || !headerValue.test(line))
      throw new Error(`line ${index + 1} of ${file} is no "Name: value"`);
    headers.set(name.toLowerCase(), line.slice(colon + 1).trim());
  }
  return headers;
}

/** Sends a request once more if the endpoint closed a kept connection at the moment in which it was used again. */
async function exchangeOnLiveConnection(
  open: () => ClientRequest,
  payload: Uint8Array,
  signal: AbortSignal,
): Promise<PostResult> {
  const first = open();
  try {
    return await exchange(first, payload);
  } catch (error) {
    if (!first.reusedSocket || signal.aborted) throw error;
    return await exchange(open(), payload);
  }
}

/** Sends a request and reads its answer; rejects when the connection fails. */
async function exchange(request: ClientRequest, payload: Uint8Array): Promise<PostResult> {
  // An error may come twice: the first one is the answer, and neither may end the process.
  request.on("error", () => {});
  try {
    request.end(payload);
    const response = await answerOf(request);
    const answer = await readAnswer(response);
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return { ok: true, body: answer };
    return statusFault(status, response.statusMessage ?? "", answer, response.headers["retry-after"] ?? null);
  } catch (error) {
    request.destroy();
    throw error;
  }
}

async function answerOf(request: ClientRequest): Promise<IncomingMessage> {
  const response = new Promise<IncomingMessage>((resolve) => request.once("response", resolve));
  return await Promise.race([response, once(request, "error").then(([error]) => Promise.reject(error))]);
}

/** Reads the first bytes of an answer; no more than these are needed. */
async function readAnswer(response: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response) {
    if (!(chunk instanceof Uint8Array)) continue;
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxAnswerBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxAnswerBytes);
}
