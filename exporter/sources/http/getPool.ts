import { readFile } from "node:fs/promises";
import { Agent } from "undici";
import { afterFailure, type BackOffSettings, type FailureRun } from "./backOff.ts";
import { type Attempt, attemptFailure, type GetFailure, type GetResult } from "./getResult.ts";
import { type ReceiveLimits, receive } from "./receive.ts";
import { authorization, createSecretFiles, type GetAuth, type ReadTextFile, secretFileOf } from "./secretFiles.ts";
import { createSlots } from "./slots.ts";

/** One page to get. */
export interface GetRequest {
  readonly url: string;
  readonly auth: GetAuth;
  /** PEM file of the CAs to trust instead of the system's; `null` for the system's. */
  readonly caFile: string | null;
  /** Takes any certificate. Only where the configuration says so. */
  readonly insecureSkipVerify: boolean;
  /** Sent along; none of them replaces a header that the pool itself sets. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface GetPoolOptions extends ReceiveLimits {
  /** Requests in flight at once, over all targets. */
  readonly concurrency: number;
  readonly backOff: BackOffSettings;
  /** Value of the `accept` header. */
  readonly accept: string;
  /** How long an idle connection is kept: longer than the interval, else none is ever used twice. */
  readonly keepAliveSeconds: number;
  /** Seconds on any clock that does not jump. */
  readonly now: () => number;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  readonly readTextFile?: ReadTextFile;
}

/** GETs over kept connections, each with a deadline and a size cap; a target that fails is left alone for a while. */
export interface GetPool {
  /** Never rejects: what went wrong is in the result. */
  get(request: GetRequest): Promise<GetResult>;
  /** Forgets the failures of every URL that is not named here. */
  retain(urls: ReadonlySet<string>): void;
  /** Cuts all connections; what is under way fails with `closed`. */
  close(): Promise<void>;
}

/** A server is asked for one page at a time as a rule; the others are for one that holds several. */
const connectionsPerServer = 4;

const readUtf8: ReadTextFile = (path) => readFile(path, "utf8");

export function createGetPool(options: GetPoolOptions): GetPool {
  const slots = createSlots(options.concurrency);
  const files = createSecretFiles(options.readTextFile ?? readUtf8, options.now);
  const agents = new Map<string, { readonly ca: string | null; readonly agent: Agent }>();
  const failing = new Map<string, { readonly run: FailureRun; readonly failure: GetFailure }>();
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

  /** CA certificates of a file; `null` for those of the system, `undefined` when the file is unreadable. */
  const certificates = async (caFile: string | null): Promise<string | undefined | null> =>
    caFile === null ? null : files.read(caFile).catch(() => undefined);

  /** What is sent along; `null` when the credentials cannot be read. */
  const headersOf = async ({ auth, headers: more }: GetRequest): Promise<Record<string, string> | null> => {
    const headers = { ...lowerCased(more ?? {}), accept: options.accept, "user-agent": "fairlead" };
    try {
      const value = await authorization(auth, files);
      return value === null ? headers : { ...headers, authorization: value };
    } catch {
      return null;
    }
  };

  const attempt = async (request: GetRequest): Promise<Attempt> => {
    const url = URL.canParse(request.url) ? new URL(request.url) : null;
    if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
      return attemptFailure("bad_url", "the URL is not an http or https URL");
    }
    const headers = await headersOf(request);
    if (headers === null) {
      return attemptFailure("credentials", `the file ${secretFileOf(request.auth)} cannot be used as credentials`);
    }
    const ca = url.protocol === "https:" ? await certificates(request.caFile) : null;
    if (ca === undefined) return attemptFailure("credentials", `the CA file ${request.caFile} cannot be read`);
    if (isClosed) return attemptFailure("closed", "the pool was closed");
    const dispatcher = agentFor(ca === null ? null : request.caFile, ca, request.insecureSkipVerify);
    const result = await receive(dispatcher, { origin: url.origin, path: url.pathname + url.search, headers }, options);
    const secretFile = secretFileOf(request.auth);
    if (!result.ok && result.status === 401 && secretFile !== null) files.forget(secretFile);
    return result;
  };

  const get = async (request: GetRequest): Promise<GetResult> => {
    const before = failing.get(request.url);
    if (before !== undefined && options.now() < before.run.retryAt) return { ...before.failure, skipped: true };
    const result = await slots.run(() => attempt(request));
    if (result.ok) {
      failing.delete(request.url);
      return result;
    }
    const run = afterFailure(failing.get(request.url)?.run, options.now(), options.backOff, options.random);
    const failure: GetFailure = { ...result, skipped: false, failures: run.failures, retryAt: run.retryAt };
    if (!isClosed) failing.set(request.url, { run, failure });
    return failure;
  };

  return {
    get,
    retain: (urls) => {
      for (const url of failing.keys()) if (!urls.has(url)) failing.delete(url);
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...agents.values()].map(({ agent }) => agent.destroy()));
      agents.clear();
      failing.clear();
    },
  };
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
