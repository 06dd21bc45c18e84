import { type AttemptFailure, attemptFailure } from "./getResult.ts";

/** The limits on the time and the memory of one request. */
export interface ReceiveLimits {
  /** Time from the first byte sent (or the attempt to connect) to the last byte of the body. */
  readonly timeoutSeconds: number;
  /** Largest number of bytes of the body; beyond it the connection is closed. */
  readonly maxBytes: number;
  /**
   * Number of bytes of the body of an error (HTTP 400 and above) that are kept, for servers that explain there what is wrong;
   * by default none.
   */
  readonly errorBytes?: number;
}

/** Largest number of bytes of all heads of an answer, and of all its chunk extensions and trailers; as in node's own parser. */
export const maxSectionBytes = 16_384;

/** Why the head of an answer alone is reason enough not to use the body; `null` when it is fine. */
export function refusalOf(
  status: number,
  contentEncoding: string | null,
  contentLength: number,
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
  if (contentEncoding !== null && contentEncoding !== "identity") {
    return attemptFailure("encoding", "the answer is compressed although that was not asked for", status);
  }
  return contentLength > maxBytes ? tooLarge(maxBytes) : null;
}

/** Whether the body of a refused answer is read for its message. */
export function keepsBodyOf(refusal: AttemptFailure, { errorBytes }: ReceiveLimits): boolean {
  return errorBytes !== undefined && errorBytes > 0 && refusal.status !== null && refusal.status >= 400;
}

export function tooLarge(maxBytes: number): AttemptFailure {
  return attemptFailure("too_large", `the answer is larger than ${maxBytes} bytes`);
}

export function tooLate({ timeoutSeconds }: ReceiveLimits): AttemptFailure {
  return attemptFailure("timeout", `no complete answer within ${timeoutSeconds} s`);
}

export function notHttp(what: string): AttemptFailure {
  return attemptFailure("protocol", `the answer is not HTTP: ${what}`);
}

function meaning(status: number): string {
  if (status === 401) return ": it wants credentials, or refuses the given ones";
  if (status === 403) return ": access is forbidden";
  if (status === 404) return ": there is nothing at this path";
  if (status >= 500) return ": the server failed";
  return "";
}
