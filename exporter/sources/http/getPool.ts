import { readFile } from "node:fs/promises";
import { Agent } from "undici";
import type { Auth } from "../../config/prometheusSchema.ts";
import { type BackOff, type BackOffSettings, createBackOff } from "./backOff.ts";
import { type Attempt, attemptFailure, type ConsumeBody, type GetFailure, type GetResult } from "./getResult.ts";
import type { ReceiveLimits } from "./limits.ts";
import { createPlainClient } from "./plainClient.ts";
import { receive } from "./receive.ts";
import { authorization, createSecretFiles, type ReadTextFile, secretFileOf } from "./secretFiles.ts";
import { createSlots } from "./slots.ts";

/** One page to get. */
export interface GetRequest {
  readonly url: string;
  readonly auth: Auth;
  /** PEM file of the CAs to trust instead of the system's; `null` for those of the system. */
  readonly caFile: string | null;
  /** Whether any certificate is accepted. Only where the configuration asks for it. */
  readonly insecureSkipVerify: boolean;
  /** Further headers; none of them replaces a header that the pool itself sets. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface GetPoolOptions extends ReceiveLimits {
  /** The most requests in flight at the same time, over all targets. */
  readonly concurrency: number;
  readonly backOff: BackOffSettings;
  /** Value of the `accept` header. */
  readonly accept: string;
  /** How long an idle connection is kept. It must be longer than the interval, or else no connection is ever used twice. */
  readonly keepAliveSeconds: number;
  /** Seconds of any clock that does not jump. */
  readonly now: () => number;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  readonly readTextFile?: ReadTextFile;
}

/**
 * Sends GET requests over kept connections, each with a deadline and a size cap. A target that fails is not asked for a while.
 */
export interface GetPool {
  /**
   * Gets a page; `consume` reads the body of a good answer. A failure is in the result; the promise rejects only with what
   * `consume` throws.
   */
  get<T>(request: GetRequest, consume: ConsumeBody<T>): Promise<GetResult<T>>;
  /** Forgets the failures of every URL that is not named here. */
  retain(urls: ReadonlySet<string>): void;
  /** Closes all connections; requests that are under way fail with `closed`. */
  close(): Promise<void>;
}

/**
 * The most connections to a server with TLS. It is usually asked for one page at a time; the others are for servers with
 * several pages.
 */
const connectionsPerServer = 4;

const readUtf8: ReadTextFile = (path) => readFile(path, "utf8");

export function createGetPool(options: GetPoolOptions): GetPool {
  const slots = createSlots(options.concurrency);
  const files = createSecretFiles(options.readTextFile ?? readUtf8, options.now);
  const ownHeaders = { accept: options.accept, "user-agent": "fairlead" };
  const plain = createPlainClient({ ...options, headers: ownHeaders });
  const agents = new Map<string, { readonly ca: string | null; readonly agent: Agent }>();
  const failing = new Map<string, { readonly backOff: BackOff; readonly failure: GetFailure }>();
  let isClosed = false;

  const agentFor = (caFile: string | null, ca: string | null, insecureSkipVerify: boolean): Agent => {
    const key = `${insecureSkipVerify} ${caFile ?? ""}`;
    const known = agents.get(key);
    if (known !== undefined && known.ca === ca) return known.agent;
    const agent = createAgent(options, ca, insecureSkipVerify);
    agents.set(key, { ca, agent });
    void known?.agent.close();
    return agent;
  };

  /** The CA certificates of a file; `null` for those of the system, `undefined` when the file cannot be read. */
  const certificates = async (caFile: string | null): Promise<string | undefined | null> =>
    caFile === null ? null : files.read(caFile).catch(() => undefined);

  /** Gets a page over TLS, by undici. */
  const getSecurely = async <T>(
    { url, caFile, insecureSkipVerify, headers: more }: GetRequest,
    credentials: string | null,
    consume: ConsumeBody<T>,
  ): Promise<Attempt<T>> => {
    const ca = await certificates(caFile);
    if (ca === undefined) return attemptFailure("credentials", `the CA file ${caFile} cannot be read`);
    if (isClosed) return attemptFailure("closed", "the pool was closed");
    const { origin, pathname, search } = new URL(url);
    const given = { ...lowerCased(more ?? {}), ...ownHeaders };
    const headers = credentials === null ? given : { ...given, authorization: credentials };
    const dispatcher = agentFor(caFile, ca, insecureSkipVerify);
    return receive(dispatcher, { origin, path: pathname + search, headers }, options, consume);
  };

  const attempt = async <T>(request: GetRequest, consume: ConsumeBody<T>): Promise<Attempt<T>> => {
    const { url, auth, headers } = request;
    const protocol = protocolOf(url);
    if (protocol === null) return attemptFailure("bad_url", "the URL is not an http or https URL");
    const secretFile = secretFileOf(auth);
    let credentials: string | null = null;
    try {
      if (secretFile !== null) credentials = await authorization(auth, files);
    } catch {
      return attemptFailure("credentials", `the file ${secretFile} cannot be used as credentials`);
    }
    if (isClosed) return attemptFailure("closed", "the pool was closed");
    const result = await (protocol === "https"
      ? getSecurely(request, credentials, consume)
      : plain.get({ url, headers, authorization: credentials }, consume));
    if (!result.ok && result.status === 401 && secretFile !== null) files.forget(secretFile);
    return result;
  };

  const get = async <T>(request: GetRequest, consume: ConsumeBody<T>): Promise<GetResult<T>> => {
    const before = failing.get(request.url);
    if (before !== undefined && options.now() < before.failure.retryAt) return { ...before.failure, skipped: true };
    const result = await slots.run(() => attempt(request, consume));
    if (result.ok) {
      failing.delete(request.url);
      return result;
    }
    const known = failing.get(request.url);
    const backOff = known?.backOff ?? createBackOff(options.backOff, options.random);
    const failures = (known?.failure.failures ?? 0) + 1;
    const failure: GetFailure = { ...result, skipped: false, failures, retryAt: options.now() + backOff.next() };
    if (!isClosed) failing.set(request.url, { backOff, failure });
    return failure;
  };

  return {
    get,
    retain: (urls) => {
      for (const url of failing.keys()) if (!urls.has(url)) failing.delete(url);
    },
    close: async () => {
      isClosed = true;
      plain.close();
      await Promise.all([...agents.values()].map(({ agent }) => agent.destroy()));
      agents.clear();
      failing.clear();
    },
  };
}

/** The protocol of a URL; `null` if it is not one of these two. */
function protocolOf(url: string): "http" | "https" | null {
  if (!URL.canParse(url)) return null;
  if (url.startsWith("http://")) return "http";
  const { protocol } = new URL(url);
  return protocol === "https:" ? "https" : protocol === "http:" ? "http" : null;
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function createAgent(options: GetPoolOptions, ca: string | null, insecureSkipVerify: boolean): Agent {
  const keepAliveMilliseconds = options.keepAliveSeconds * 1000;
  return new Agent({
    connections: connectionsPerServer,
    keepAliveTimeout: keepAliveMilliseconds,
    keepAliveMaxTimeout: keepAliveMilliseconds,
    connect: {
      rejectUnauthorized: !insecureSkipVerify,
      timeout: options.timeoutSeconds * 1000,
      allowH2: false,
      ...(ca === null ? {} : { ca }),
    },
  });
}
