import type { Dispatcher } from "undici";
import { describeError } from "./describeError.ts";
import { type Attempt, type AttemptFailure, attemptFailure } from "./getResult.ts";

/** What one request may cost. */
export interface ReceiveLimits {
  /** From the first byte sent (or the attempt to connect) to the last byte of the body. */
  readonly timeoutSeconds: number;
  /** Bytes of the body; beyond them the connection is cut. */
  readonly maxBytes: number;
  /** So much of the body of an error (HTTP 400 and above) is kept, for servers that say there what is wrong; by default nothing. */
  readonly errorBytes?: number;
}

/** What is sent. */
export interface ReceiveRequest {
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
}

/** Sends one GET and collects the body. Resolves with a failure as a value; never rejects. */
export function receive(dispatcher: Dispatcher, request: ReceiveRequest, limits: ReceiveLimits): Promise<Attempt> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isOver = false;
    let abort: ((reason: Error) => void) | null = null;
    let refusal: AttemptFailure | null = null;

    const finish = (attempt: Attempt): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      resolve(attempt);
    };
    const giveUp = (failure: AttemptFailure): void => {
      finish(failure);
      abort?.(new Error(failure.message));
    };
    const timer = setTimeout(() => {
      giveUp(attemptFailure("timeout", `no complete answer within ${limits.timeoutSeconds} s`));
    }, limits.timeoutSeconds * 1000);

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (controller) => {
        abort = (reason) => controller.abort(reason);
        if (isOver) controller.abort(new Error("the deadline passed before the connection stood"));
      },
      onResponseStart: (_controller, status, headers) => {
        refusal = refuse(status, headers, limits.maxBytes);
        if (refusal !== null && (status < 400 || limits.errorBytes === undefined)) giveUp(refusal);
      },
      onResponseData: (_controller, chunk) => {
        size += chunk.length;
        if (refusal !== null) {
          if (!isOver) chunks.push(chunk);
          if (size >= (limits.errorBytes ?? 0)) giveUp(withBody(refusal, chunks, limits));
        } else if (size > limits.maxBytes) giveUp(tooLarge(limits.maxBytes));
        else if (!isOver) chunks.push(chunk);
      },
      onResponseEnd: () =>
        finish(refusal === null ? { ok: true, bytes: Buffer.concat(chunks, size) } : withBody(refusal, chunks, limits)),
      onResponseError: (_controller, error) =>
        finish(refusal === null ? describeError(error) : withBody(refusal, chunks, limits)),
    };
    try {
      dispatcher.dispatch({ ...request, method: "GET", headersTimeout: 0, bodyTimeout: 0 }, handler);
    } catch (error) {
      finish(describeError(error));
    }
  });
}

/** Why the answer's head alone is reason enough not to read the body; `null` when it is fine. */
function refuse(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  maxBytes: number,
): AttemptFailure | null {
  if (status >= 300 && status < 400) {
    return attemptFailure(
      "bad_redirect",
      `HTTP ${status}: it redirects elsewhere, and redirects are not followed`,
      status,
    );
  }
  if (status !== 200) return attemptFailure("status", `HTTP ${status}${meaning(status)}`, status);
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    return attemptFailure("encoding", "the answer is compressed although that was not asked for", status);
  }
  return Number(headers["content-length"] ?? 0) > maxBytes ? tooLarge(maxBytes) : null;
}

function withBody(refusal: AttemptFailure, chunks: readonly Buffer[], limits: ReceiveLimits): AttemptFailure {
  return { ...refusal, body: Buffer.concat(chunks).toString("utf8", 0, limits.errorBytes) };
}

function tooLarge(maxBytes: number): AttemptFailure {
  return attemptFailure("too_large", `the answer is larger than ${maxBytes} bytes`);
}

function meaning(status: number): string {
  if (status === 401) return ": it wants credentials, or refuses the given ones";
  if (status === 403) return ": access is forbidden";
  if (status === 404) return ": there is nothing at this path";
  if (status >= 500) return ": the server failed";
  return "";
}
