/** Why a GET gave no body. Bounded, so it may be a label value. */
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
 * Reads the whole body of a 200 answer and returns the part to keep. `bytes` lie in memory that the next answer overwrites:
 * they are gone when this returns, so it must be synchronous and keep copies, never a view.
 */
export type ConsumeBody<T> = (bytes: Buffer) => T;

/** A GET that gave no body. */
export interface GetFailure {
  readonly ok: false;
  readonly code: GetErrorCode;
  /** One clause that a person understands; holds no credentials. Text of the server may be inside. */
  readonly message: string;
  /** HTTP status, where there was one. */
  readonly status: number | null;
  /** Body of an error, where the pool keeps some of it (`errorBytes`). Untrusted text. */
  readonly body?: string;
  /** `true` when nothing was sent because the target is backing off; code and message are those of the last attempt. */
  readonly skipped: boolean;
  /** Failures in a row, this one included. */
  readonly failures: number;
  /** The pool's time (seconds) before which no further attempt is made. */
  readonly retryAt: number;
}

/** A 200 answer that came whole. */
export interface GetSuccess<T> {
  readonly ok: true;
  /** What `ConsumeBody` made of the body. */
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
