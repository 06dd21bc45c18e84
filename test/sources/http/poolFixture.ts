import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import {
  createGetPool,
  type GetPool,
  type GetPoolOptions,
  type GetRequest,
} from "../../../exporter/sources/http/getPool.ts";
import type { GetResult } from "../../../exporter/sources/http/getResult.ts";
import { selfSigned } from "./selfSigned.ts";

/** Files that the pools can read. */
export const files = new Map<string, string>();
const pools: GetPool[] = [];

/** A pool whose answers are the bodies' texts. */
export interface TextPool extends Pick<GetPool, "retain" | "close"> {
  get(request: GetRequest): Promise<GetResult<string>>;
}

/** Servers of the test, closed after it. */
export const servers: { close(): unknown; closeAllConnections?(): void }[] = [];
/** The pools' clock, in seconds. */
export const settings = { clock: 0 };

/** A pool with a deadline that only what hangs comes to, and a back-off from 30 s to 120 s, unless `more` says otherwise. */
export function pool(more: Partial<GetPoolOptions> = {}): TextPool {
  const created = createGetPool({
    timeoutSeconds: 60,
    maxBytes: 1_000_000,
    concurrency: 8,
    backOff: { firstSeconds: 30, maxSeconds: 120 },
    accept: "text/plain",
    keepAliveSeconds: 90,
    now: () => settings.clock,
    random: () => 0.5,
    readTextFile: async (path) => {
      const text = files.get(path);
      if (text === undefined) throw new Error(`no ${path}`);
      return text;
    },
    ...more,
  });
  pools.push(created);
  return { ...created, get: (one) => created.get(one, (bytes) => bytes.toString()) };
}

export function request(url: string, more: Partial<GetRequest> = {}): GetRequest {
  return { url, auth: { kind: "none" }, caFile: null, insecureSkipVerify: false, ...more };
}

export function urlOf(server: Pick<Server, "address">, scheme: "http" | "https" = "http"): string {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `${scheme}://127.0.0.1:${address.port}/metrics`;
}

export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return urlOf(server);
}

export async function serveTls(): Promise<string> {
  const server = createTlsServer(selfSigned, (_request, response) => response.end("secure"));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return urlOf(server, "https");
}

export function outcome(result: GetResult<string>): string {
  return result.ok ? result.value : result.code;
}

/** Closes all that a test opened. */
export async function tearDown(): Promise<void> {
  await Promise.all(pools.splice(0).map((one) => one.close()));
  for (const server of servers.splice(0)) {
    server.closeAllConnections?.();
    server.close();
  }
  files.clear();
  settings.clock = 0;
}
