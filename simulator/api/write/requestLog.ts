import type { JsonValue } from "../../../exporter/model/recommendation.ts";

/** A write that the API was asked for, and how it answered. */
export interface WrittenRequest {
  /** Seconds since the epoch, by the cluster's wall clock. */
  readonly at: number;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly contentType: string | null;
  /** `null`: none, too large, or no JSON. */
  readonly body: JsonValue;
  readonly dryRun: boolean;
  /** HTTP status of the answer. */
  readonly code: number;
}

/** Requests kept; the oldest are forgotten. */
const logLimit = 10_000;

/** Adds a request to a log of bounded length. */
export function logRequest(log: WrittenRequest[], request: WrittenRequest): void {
  log.push(request);
  if (log.length > logLimit) log.shift();
}
