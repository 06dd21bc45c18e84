import type { ExportFault } from "./exportTally.ts";

/** A request that was not accepted. */
interface FailedPost {
  readonly ok: false;
  readonly fault: ExportFault;
  /** Whether the next request would end the same way if it were sent now. */
  readonly endpointDown: boolean;
  /** Seconds for which the endpoint asked to be left alone; `null` if it did not. */
  readonly retryAfterSeconds: number | null;
}

/** How a request ended. */
export type PostResult = { readonly ok: true; readonly body: Uint8Array } | FailedPost;

const settings = "otlp.endpoint";

/** What to do about an answer that is no success, by its HTTP status. */
const nextSteps: Readonly<Record<number, string>> = {
  400: "Look into the endpoint's own log for what it does not accept; everything else keeps working.",
  401: "Give the endpoint's credentials in otlp.headersFile (or otlp.headers).",
  403: "Give credentials that may write there in otlp.headersFile (or otlp.headers).",
  404: `Check the path of ${settings}: /v1/metrics and /v1/traces are appended to it. If the endpoint takes only one of them, set otlp.metrics or otlp.traces to false.`,
  413: "Raise the endpoint's limit of a request's size (Fairlead's have up to 2,000 points, usually less than 1 MB).",
  415: "Use an endpoint that takes OTLP/HTTP with protobuf.",
  429: "Raise the endpoint's rate limit, or otlp.intervalSeconds.",
};

/** HTTP statuses after which the other requests of a round would fail as well. */
const downStatuses = new Set([401, 403, 404, 405, 408, 415, 429]);

/** Turns an answer that is no success into a fault. `body` is untrusted. */
export function statusFault(
  status: number,
  statusText: string,
  body: Uint8Array,
  retryAfter: string | null,
): FailedPost {
  const said = readable(body);
  return {
    ok: false,
    fault: {
      message: `HTTP ${status} ${readable(Buffer.from(statusText))}${said === "" ? "" : `: ${said}`}`,
      nextStep: nextSteps[status] ?? "Look into the endpoint's own log; it answered, but did not accept what was sent.",
    },
    endpointDown: status >= 500 || downStatuses.has(status),
    retryAfterSeconds: retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : null,
  };
}

/** Turns an error of the connection, or of the steps before it, into a fault. */
export function connectionFault(error: unknown): FailedPost {
  const message = error instanceof Error ? error.message || error.name : String(error);
  const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
  return {
    ok: false,
    fault: {
      message: readable(Buffer.from(message.includes(code.trim()) ? message : `${message}${code}`)),
      nextStep: `Check ${settings}, and that the endpoint is up and can be reached from here.`,
    },
    endpointDown: true,
    retryAfterSeconds: null,
  };
}

/** Turns what is wrong with the headers into a fault. */
export function headersFault(error: unknown): FailedPost {
  const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
  const message = error instanceof Error && code === "" ? error.message : `the file of headers cannot be read${code}`;
  return {
    ok: false,
    fault: {
      message,
      nextStep: "Check otlp.headersFile (one Name: value in a line) and $OTEL_EXPORTER_OTLP_HEADERS.",
    },
    endpointDown: true,
    retryAfterSeconds: null,
  };
}

/** Finds text for people in bytes that may be anything (a protobuf Status has its message between other bytes). */
export function readable(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.subarray(0, 1000)).toString("utf8");
  return text
    .replace(/[^\p{L}\p{N}\p{P}\p{S} ]+/gu, " ")
    .replaceAll("\ufffd", "")
    .trim()
    .slice(0, 200);
}
