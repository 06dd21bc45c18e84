import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { WebConfig } from "../../config/webConfig.ts";
import { limitConnections } from "../front/connections.ts";
import { parseListenAddress } from "./listenAddress.ts";
import { acceptsClient, clientCertOptions, followCertificates, readTlsContext } from "./tls.ts";

/** A server that listens. */
export interface RunningServer {
  /** Where it can be reached from this machine, for example `http://127.0.0.1:10836`. */
  readonly url: string;
  readonly port: number;
  /** Stops listening, lets running requests end, and closes what is left after 2 s. */
  readonly close: () => Promise<void>;
}

export type StartResult =
  | { readonly ok: true; readonly server: RunningServer }
  | { readonly ok: false; readonly error: string; readonly nextStep: string };

interface ServerOptions {
  readonly handler: RequestListener;
  /** The address, as in `--web.listen-address`. */
  readonly listenAddress: string;
  readonly web: WebConfig;
  /** Is called with faults while the server runs, such as certificate files that do not fit together. */
  readonly onProblem: (message: string) => void;
  /** The flag that sets the address, for messages; by default `--web.listen-address`. */
  readonly flag?: string;
  /** The most connections, 1000 by default; beyond that, those without a request under way are closed. */
  readonly maxConnections?: number;
  /** How long clients may take; the defaults suit every client. */
  readonly times?: ClientTimes;
}

/** How long clients may take, milliseconds. */
export interface ClientTimes {
  /** Until the handshake is done, and until the head of a request is there. */
  readonly head: number;
  /** Until a whole request is there. */
  readonly request: number;
  /** Until the next request on a connection. */
  readonly idle: number;
  /** Interval of the checks for clients that take longer. */
  readonly look: number;
}

/** No client needs longer for the head of a request; scrapers come back every 15 to 60 s and keep their connection. */
const defaultTimes: ClientTimes = { head: 10_000, request: 30_000, idle: 120_000, look: 5_000 };
const closeMilliseconds = 2_000;
const maxConnections = 1000;
/**
 * The most connections that wait to be accepted: if more come at once, the others try again only after a second. The kernel may
 * allow fewer.
 */
const backlog = 4096;

/**
 * Starts to listen, with TLS if the web configuration says so. It never rejects: a failure is returned as a value, with its
 * next step.
 */
export async function startServer(options: ServerOptions): Promise<StartResult> {
  const address = parseListenAddress(options.listenAddress);
  if (address === null) {
    return failure(`listen address ${JSON.stringify(options.listenAddress)} is not valid`, "Use :PORT or HOST:PORT.");
  }
  try {
    const { server, stop } = await createWebServer(options);
    limitConnections(server, options.maxConnections ?? maxConnections);
    await listen(server, address.host, address.port);
    const scheme = options.web.tls_server_config === undefined ? "http" : "https";
    return { ok: true, server: running(server, scheme, stop) };
  } catch (error) {
    return explain(error, options);
  }
}

async function createWebServer({
  handler,
  web,
  onProblem,
  times: { head, request, idle, look } = defaultTimes,
}: ServerOptions): Promise<{ server: Server; stop: () => void }> {
  const limits = {
    headersTimeout: head,
    requestTimeout: request,
    keepAliveTimeout: idle,
    connectionsCheckingInterval: look,
  };
  const tls = web.tls_server_config;
  if (tls === undefined) return { server: createServer(limits, handler), stop: () => undefined };
  const server = createTlsServer(
    { ...limits, handshakeTimeout: head, ...(await readTlsContext(tls)), ...clientCertOptions(tls) },
    handler,
  );
  server.on("secureConnection", (socket) => {
    if (!acceptsClient(tls, socket)) socket.destroy();
  });
  return { server, stop: followCertificates(server, tls, onProblem) };
}

function listen(server: Server, host: string | null, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, backlog, ...(host === null ? {} : { host }) }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function running(server: Server, scheme: string, stop: () => void): RunningServer {
  const address = server.address();
  const { address: host, port } = isInfo(address) ? address : { address: "127.0.0.1", port: 0 };
  const reachable = host === "::" || host === "0.0.0.0" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  const close = () =>
    new Promise<void>((resolve) => {
      stop();
      const deadline = setTimeout(() => server.closeAllConnections(), closeMilliseconds);
      server.close(() => {
        clearTimeout(deadline);
        resolve();
      });
      server.closeIdleConnections();
    });
  return { url: `${scheme}://${reachable}:${port}`, port, close };
}

function isInfo(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === "object" && address !== null;
}

function explain(error: unknown, { listenAddress, web, flag = "--web.listen-address" }: ServerOptions): StartResult {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const text = error instanceof Error ? error.message : String(error);
  if (code === "EADDRINUSE") return failure(`${listenAddress} is in use`, `Choose another ${flag}.`);
  if (code === "EACCES") return failure(`${listenAddress} may not be used`, "Choose a port above 1023.");
  if (web.tls_server_config !== undefined && code !== "EADDRNOTAVAIL" && code !== "ENOTFOUND") {
    return failure(
      `TLS cannot be set up: ${text}`,
      "Check cert_file, key_file and client_ca_file of the web configuration.",
    );
  }
  return failure(`cannot listen on ${listenAddress}: ${text}`, `Check ${flag}.`);
}

function failure(error: string, nextStep: string): StartResult {
  return { ok: false, error, nextStep };
}
