import type { Dispatcher } from "undici";
import { describeError } from "./describeError.ts";
import type { Attempt, AttemptFailure, ConsumeBody } from "./getResult.ts";
import { keepsBodyOf, type ReceiveLimits, refusalOf, tooLarge, tooLate } from "./limits.ts";

/** The request to send. */
export interface ReceiveRequest {
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
}

/**
 * Sends one GET by undici and collects the body. Resolves with a failure as a value; rejects only with what `consume`
 * throws.
 */
export function receive<T>(
  dispatcher: Dispatcher,
  request: ReceiveRequest,
  limits: ReceiveLimits,
  consume: ConsumeBody<T>,
): Promise<Attempt<T>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isOver = false;
    let abort: ((reason: Error) => void) | null = null;
    let refusal: AttemptFailure | null = null;

    const finish = (outcome: AttemptFailure | Buffer): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      try {
        resolve(Buffer.isBuffer(outcome) ? { ok: true, value: consume(outcome) } : outcome);
      } catch (error) {
        reject(error);
      }
    };
    const giveUp = (failure: AttemptFailure): void => {
      finish(failure);
      abort?.(new Error(failure.message));
    };
    const timer = setTimeout(() => giveUp(tooLate(limits)), limits.timeoutSeconds * 1000);

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (controller) => {
        abort = (reason) => controller.abort(reason);
        if (isOver) controller.abort(new Error("the deadline passed before there was a connection"));
      },
      onResponseStart: (_controller, status, headers) => {
        const encoding = headers["content-encoding"];
        const length = Number(headers["content-length"] ?? 0);
        refusal = refusalOf(status, encoding === undefined ? null : String(encoding), length, limits.maxBytes);
        if (refusal !== null && !keepsBodyOf(refusal, limits)) giveUp(refusal);
      },
      onResponseData: (_controller, chunk) => {
        size += chunk.length;
        if (refusal !== null) {
          if (!isOver) chunks.push(chunk);
          if (size >= (limits.errorBytes ?? 0)) giveUp(withBody(refusal, chunks, limits));
        } else if (size > limits.maxBytes) giveUp(tooLarge(limits.maxBytes));
        else if (!isOver) chunks.push(chunk);
      },
      onResponseEnd: () => finish(refusal === null ? Buffer.concat(chunks, size) : withBody(refusal, chunks, limits)),
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

function withBody(refusal: AttemptFailure, chunks: readonly Buffer[], limits: ReceiveLimits): AttemptFailure {
  return { ...refusal, body: Buffer.concat(chunks).toString("utf8", 0, limits.errorBytes) };
}
