import type { JsonValue } from "../../../exporter/model/recommendation.ts";

/** A write that the API was asked for, and its answer. */
export interface WrittenRequest {
  /** When the API answered, seconds since the epoch, by the cluster's wall clock. */
  readonly at: number;
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly contentType: string | null;
  /** The body; `null`: there is none, it is too large, or it is no JSON. */
  readonly body: JsonValue;
  readonly dryRun: boolean;
  /** HTTP status of the answer. */
  readonly code: number;
}

/** The most requests that are kept; the oldest are forgotten. */
const logLimit = 10_000;

/** Adds a request to a log of bounded length. */
export function logRequest(log: WrittenRequest[], request: WrittenRequest): void {
  log.push(request);
  if (log.length > logLimit) log.shift();
}
