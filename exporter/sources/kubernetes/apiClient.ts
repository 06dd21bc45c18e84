import { Agent, type Dispatcher, ProxyAgent } from "undici";
import type { Clock } from "./clock.ts";
import type { Credentials, TlsMaterial } from "./credentials.ts";

export interface RequestOptions {
  readonly accept: string;
  readonly signal: AbortSignal;
  /** Time until the whole body has arrived, or for `open` until the headers have. Seconds. */
  readonly deadlineSeconds: number;
}

/** An HTTP answer, whatever its status. */
export interface Answer<Body> {
  readonly ok: true;
  readonly status: number;
  /** The value of `Retry-After`; `null` where the server did not send one in seconds. */
  readonly retryAfterSeconds: number | null;
  /** `Content-Type` as it was received; `null` without one. */
  readonly contentType: string | null;
  readonly body: Body;
}

/** A request without an HTTP answer: refused, cut, too slow, too large, or without credentials. */
export interface NoAnswer {
  readonly ok: false;
  readonly message: string;
}

/** Requests to one API server. Nothing here throws, except the body of `open` while it is read. */
export interface ApiClient {
  /** Sends a GET and reads the whole body. `path` begins with `/` and is already escaped. */
  get(path: string, options: RequestOptions & { readonly maxBytes: number }): Promise<Answer<Buffer> | NoAnswer>;
  /** Sends a GET whose body is read as it arrives, until the signal is aborted or the reader stops. */
  open(path: string, options: RequestOptions): Promise<Answer<AsyncIterable<Uint8Array>> | NoAnswer>;
  close(): Promise<void>;
}

const maxErrorBodyBytes = 64 * 1024;

/** Creates a client with keep-alive connections of its own. A changed certificate or authority opens new ones. */
export function createApiClient(credentials: Credentials, clock: Clock): ApiClient {
  let current: { readonly fingerprint: string; readonly dispatcher: Dispatcher } | null = null;

  const dispatcherFor = (tls: TlsMaterial): Dispatcher => {
    const fingerprint = JSON.stringify(tls);
    if (current?.fingerprint !== fingerprint) {
      // Requests under way end by themselves, and nothing needs to wait for them.
      current?.dispatcher.close().catch(() => {});
      current = { fingerprint, dispatcher: createDispatcher(tls, credentials.proxyUrl) };
    }
    return current.dispatcher;
  };

  const request = async (path: string, accept: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> => {
    const { headers, tls } = await credentials.access();
    const url = new URL(credentials.server + path);
    return await dispatcherFor(tls).request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: "GET",
      // Answers are not compressed: compression would cost the API server more than the network that it saves.
      headers: { ...headers, accept, "accept-encoding": "identity", "user-agent": "fairlead" },
      signal,
      // The deadlines are kept here, not by undici.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  };

  /** An answer whose body is what `take` returns for it before the deadline. */
  const answer = async <Body>(
    path: string,
    options: RequestOptions,
    take: (response: Dispatcher.ResponseData) => Body | Promise<Body>,
  ): Promise<Answer<Body> | NoAnswer> => {
    const passed = new AbortController();
    const message = `no answer within ${options.deadlineSeconds} s`;
    const clear = clock.schedule(options.deadlineSeconds, () => passed.abort(new Error(message)));
    try {
      const response = await request(path, options.accept, AbortSignal.any([passed.signal, options.signal]));
      return { ok: true, ...head(response), body: await take(response) };
    } catch (error) {
      return { ok: false, message: passed.signal.aborted ? message : describe(error) };
    } finally {
      clear();
    }
  };

  return {
    get: (path, options) =>
      answer(path, options, ({ body, statusCode }) =>
        readAll(body, statusCode === 200 ? options.maxBytes : maxErrorBodyBytes),
      ),
    open: (path, options) => answer<AsyncIterable<Uint8Array>>(path, options, ({ body }) => body),
    close: async () => {
      await current?.dispatcher.destroy();
      current = null;
    },
  };
}

function createDispatcher(tls: TlsMaterial, proxyUrl: string | null): Dispatcher {
  // HTTP/1.1 is used because a watch that is cut must not take the connection of the others with it.
  const common = { allowH2: false, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 };
  if (proxyUrl !== null) return new ProxyAgent({ ...common, uri: proxyUrl, requestTls: tls });
  return new Agent({ ...common, connect: { ...tls, timeout: 10_000, keepAlive: true, keepAliveInitialDelay: 30_000 } });
}

function head(response: Dispatcher.ResponseData): Omit<Answer<never>, "ok" | "body"> {
  const { "retry-after": retryAfter, "content-type": contentType } = response.headers;
  const seconds = typeof retryAfter === "string" && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : null;
  return {
    status: response.statusCode,
    retryAfterSeconds: seconds,
    contentType: typeof contentType === "string" ? contentType : null,
  };
}

/** Reads a body to its end; throws beyond the limit. */
export async function readAll(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

/** The reason of a failed request in words. The innermost cause is the most precise one. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0]);
  if (error.cause instanceof Error) return describe(error.cause);
  return error.message === "" ? error.name : error.message;
}
