/** Why a GET returned no body. The values are a closed list, so that one may be a label value. */
export type GetErrorCode =
  | "timeout"
  | "refused"
  | "unreachable"
  | "dns"
  | "tls"
  | "status"
  | "bad_redirect"
  | "too_large"
  | "encoding"
  | "reset"
  | "protocol"
  | "credentials"
  | "bad_url"
  | "closed"
  | "failed";

/**
 * Reads the whole body of a 200 answer and returns the part to keep. `bytes` are in memory that the next answer overwrites:
 * they are gone when this returns, so it must be synchronous and keep copies, never a view.
 */
export type ConsumeBody<T> = (bytes: Buffer) => T;

/** A GET that returned no body. */
export interface GetFailure {
  readonly ok: false;
  readonly code: GetErrorCode;
  /** One clause that a person understands, without credentials. It may contain text of the server. */
  readonly message: string;
  /** HTTP status; `null` where there was none. */
  readonly status: number | null;
  /** Body of an error, where the pool keeps a part of it (`errorBytes`). Untrusted text. */
  readonly body?: string;
  /** Whether nothing was sent because the target is backing off; code and message are those of the last attempt. */
  readonly skipped: boolean;
  /** Number of failures in a row, including this one. */
  readonly failures: number;
  /** The time before which no further attempt is made, by the clock of the pool (seconds). */
  readonly retryAt: number;
}

/** A 200 answer that was received completely. */
export interface GetSuccess<T> {
  readonly ok: true;
  /** The value that `ConsumeBody` returned for the body. */
  readonly value: T;
}

export type GetResult<T> = GetSuccess<T> | GetFailure;

/** A failure as one attempt sees it, before the pool adds its history. */
export interface AttemptFailure {
  readonly ok: false;
  readonly code: GetErrorCode;
  readonly message: string;
  readonly status: number | null;
  readonly body?: string;
}

export type Attempt<T> = GetSuccess<T> | AttemptFailure;

/** Builds the failure of one attempt. */
export function attemptFailure(code: GetErrorCode, message: string, status: number | null = null): AttemptFailure {
  return { ok: false, code, message, status };
}
