import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type ApiClient, createApiClient } from "../../../exporter/sources/kubernetes/apiClient.ts";
import type { Clock } from "../../../exporter/sources/kubernetes/clock.ts";
import { anonymousCredentials } from "../../../exporter/sources/kubernetes/credentials.ts";

/** One request that arrived, to be answered by the test. */
export interface Call {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accept: string;
  readonly response: ServerResponse;
}

/** An HTTP server whose answers the test gives, one by one. */
export interface ScriptedApi {
  readonly client: ApiClient;
  /** Waits for the next request that no one has taken yet. */
  next(): Promise<Call>;
  close(): Promise<void>;
}

export async function startScriptedApi(clock: Clock): Promise<ScriptedApi> {
  const calls: Call[] = [];
  const takers: ((call: Call) => void)[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://test");
    const call = { path: url.pathname, query: url.searchParams, accept: request.headers.accept ?? "", response };
    const taker = takers.shift();
    if (taker === undefined) calls.push(call);
    else taker(call);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server listens on no port");
  const client = createApiClient(anonymousCredentials(`http://127.0.0.1:${address.port}`), clock);
  return {
    client,
    next: () => {
      const call = calls.shift();
      return call === undefined ? new Promise((resolve) => takers.push(resolve)) : Promise.resolve(call);
    },
    close: async () => {
      await client.close();
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

export function answer(call: Call, status: number, body: unknown, headers: Record<string, string> = {}): void {
  call.response.writeHead(status, headers);
  call.response.end(typeof body === "string" ? body : JSON.stringify(body));
}

/** Lets everything happen that needs no timer, until the condition holds. */
export async function settled(what: string, holds: () => boolean): Promise<void> {
  for (let turns = 0; turns < 5000; turns += 1) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error(`still not: ${what}`);
}

/** A namespace as the API writes it. */
export function namespaceObject(name: string, resourceVersion: string): object {
  return { metadata: { name, uid: `uid-${name}`, resourceVersion } };
}

export function listOf(resourceVersion: string, items: readonly object[], next = ""): object {
  return { kind: "List", metadata: { resourceVersion, continue: next }, items };
}

/** One line of a watch. */
export function eventLine(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`;
}
