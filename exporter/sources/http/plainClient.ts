import { connect as connectSocket, type Socket } from "node:net";
import { describeError } from "./describeError.ts";
import { type Attempt, type AttemptFailure, attemptFailure, type ConsumeBody } from "./getResult.ts";
import { type ReceiveLimits, tooLate } from "./limits.ts";
import { type PlainPage, plainPage, plainRequest } from "./plainRequest.ts";
import { endOfBytes, type ReadingStep, takeBytes } from "./responseReader.ts";
import { bodyOf, createBodyBuffers, type ResponseReading, startReading, stopReading } from "./responseReading.ts";

/**
 * Sends GET requests without TLS over sockets of its own. With ten thousand servers it takes half the CPU time of a general
 * HTTP client.
 */
export interface PlainClient {
  /** Resolves with a failure as a value; rejects only with what `consume` throws. `url` is that of an `http` page. */
  get<T>(request: PlainGet, consume: ConsumeBody<T>): Promise<Attempt<T>>;
  /** Closes all connections; requests that are under way fail with `closed`. */
  close(): void;
}

export interface PlainGet {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Value of the `authorization` header; `null` without one. */
  readonly authorization: string | null;
}

export interface PlainClientOptions extends ReceiveLimits {
  /** Headers of each request, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The least time for which an idle connection is kept; it is kept for at most half as much longer. */
  readonly keepAliveSeconds: number;
}

/** One request that is under way. */
interface Exchange {
  readonly page: PlainPage;
  readonly text: string;
  readonly reading: ResponseReading;
  readonly settle: (outcome: Buffer | AttemptFailure) => void;
  connection: Connection | null;
  /** The timer that ends the exchange when its time is over. */
  readonly deadline: NodeJS.Timeout;
}

/** A connection to a server, and the exchange that it carries. */
interface Connection {
  readonly socket: Socket;
  /** The page for which the connection is kept while it is idle. */
  readonly url: string;
  /** `null` while it is idle. */
  exchange: Exchange | null;
  /** Whether it has carried a request before. */
  isReused: boolean;
}

/** A page and the connection that waits for its next request. */
interface Kept {
  readonly page: PlainPage;
  readonly connection: Connection;
  readonly since: number;
}

const closed = attemptFailure("closed", "the pool was closed");

/**
 * Creates a client that keeps one connection for each page. All sockets read into one buffer: a read and its callback are one
 * step, so no other read comes between.
 */
export function createPlainClient(options: PlainClientOptions): PlainClient {
  const kept = new Map<string, Kept>();
  const underWay = new Set<Exchange>();
  const buffers = createBodyBuffers();
  const readBuffer = Buffer.allocUnsafeSlow(readBytes);
  let sweeper: NodeJS.Timeout | null = null;

  const finish = (exchange: Exchange, step: "done" | AttemptFailure): void => {
    const { page, connection, reading } = exchange;
    clearTimeout(exchange.deadline);
    underWay.delete(exchange);
    exchange.connection = null;
    if (connection !== null) release(page, connection, step === "done" && reading.keepsAlive);
    exchange.settle(step === "done" ? bodyOf(reading) : step);
    stopReading(reading);
  };

  const release = (page: PlainPage, connection: Connection, isReusable: boolean): void => {
    connection.exchange = null;
    if (!isReusable || kept.has(page.url)) {
      connection.socket.destroy();
      return;
    }
    connection.isReused = true;
    connection.socket.unref();
    kept.set(page.url, { page, connection, since: performance.now() });
    sweeper ??= setInterval(sweep, options.keepAliveSeconds * 500).unref();
  };

  const advance = (exchange: Exchange, step: ReadingStep): void => {
    if (step !== "more") finish(exchange, step);
  };

  /** Removes the connection from those that are kept, because it cannot be used again. */
  const forget = (connection: Connection): void => {
    if (kept.get(connection.url)?.connection === connection) kept.delete(connection.url);
    connection.socket.destroy();
  };

  /**
   * Handles a connection that ended before the answer did. One that was idle may have been closed just as the request was sent,
   * so the request is then sent again on a new connection.
   */
  const lose = (exchange: Exchange, failure: AttemptFailure): void => {
    const { connection, reading, page } = exchange;
    if (connection?.isReused !== true || reading.hasBegun) {
      finish(exchange, failure);
      return;
    }
    connection.exchange = null;
    connection.socket.destroy();
    sendOn(open(page), exchange);
  };

  /** Takes in bytes of a connection; they are overwritten once this returns. */
  const onBytes = (connection: Connection, bytes: Buffer): void => {
    const { exchange } = connection;
    if (exchange === null) forget(connection);
    else advance(exchange, takeBytes(exchange.reading, bytes));
  };

  /**
   * Handles the end of a connection: the other side closed it (`error` is `null`), or it broke. May be called several times.
   */
  const onEnd = (connection: Connection, error: Error | null): void => {
    const { exchange } = connection;
    if (exchange === null) {
      forget(connection);
      return;
    }
    const step = endOfBytes(exchange.reading);
    if (error !== null && exchange.reading.refusal === null) lose(exchange, describeError(error));
    else if (step === "done") finish(exchange, step);
    else lose(exchange, step);
  };

  /** Opens a connection; what is written before it is open is sent once it is. */
  const open = ({ url, host, port }: PlainPage): Connection => {
    const callback = (count: number): boolean => {
      onBytes(connection, readBuffer.subarray(0, count));
      return true;
    };
    const socket = connectSocket({ host, port, onread: { buffer: readBuffer, callback } });
    const connection: Connection = { socket, url, exchange: null, isReused: false };
    socket.on("error", (error) => onEnd(connection, error));
    for (const event of ["end", "close"] as const) socket.on(event, () => onEnd(connection, null));
    return connection;
  };

  const sendOn = (connection: Connection, exchange: Exchange): void => {
    connection.exchange = exchange;
    exchange.connection = connection;
    connection.socket.write(exchange.text, "latin1");
  };

  const start = (exchange: Exchange): void => {
    const { page } = exchange;
    const known = kept.get(page.url);
    if (known !== undefined) {
      kept.delete(page.url);
      known.connection.socket.ref();
    }
    underWay.add(exchange);
    sendOn(known === undefined || known.connection.socket.destroyed ? open(page) : known.connection, exchange);
  };

  const sweep = (): void => {
    const oldest = performance.now() - options.keepAliveSeconds * 1000;
    for (const { connection, since } of kept.values()) if (since <= oldest) forget(connection);
  };

  const pageOf = (url: string, headers: PlainGet["headers"]): PlainPage | null => {
    const known = kept.get(url)?.page;
    return known !== undefined && known.headers === headers ? known : plainPage(url, options.headers, headers);
  };

  return {
    get: ({ url, headers, authorization }, consume) => {
      const page = pageOf(url, headers);
      const text = page === null ? null : plainRequest(page, authorization);
      if (page === null || text === null) {
        return Promise.resolve(attemptFailure("failed", "the request has a header that cannot be sent"));
      }
      return new Promise((resolve, reject) => {
        const settle = (outcome: Buffer | AttemptFailure): void => {
          try {
            resolve(Buffer.isBuffer(outcome) ? { ok: true, value: consume(outcome) } : outcome);
          } catch (error) {
            reject(error);
          }
        };
        const late = (): void => finish(exchange, tooLate(options));
        const deadline = setTimeout(late, options.timeoutSeconds * 1000).unref();
        const reading = startReading(options, buffers);
        const exchange: Exchange = { page, text, reading, settle, connection: null, deadline };
        start(exchange);
      });
    },
    close: () => {
      if (sweeper !== null) clearInterval(sweeper);
      for (const { connection } of kept.values()) forget(connection);
      for (const exchange of underWay) finish(exchange, closed);
    },
  };
}

/** Size of the read buffer: enough for an ordinary page in one read. */
const readBytes = 262_144;
