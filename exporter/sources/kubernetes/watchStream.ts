import { type ApiClient, describe, readAll } from "./apiClient.ts";
import type { Clock } from "./clock.ts";
import { failing, type Setback, setbackOf } from "./setback.ts";
import type { BodyFormat, WatchEvent, WireFormat } from "./wire.ts";

/** A change to the cache, or a bookmark, which reports that there was none. */
export type Change<Row> = Extract<WatchEvent<Row>, { readonly type: "put" | "remove" | "bookmark" }>;

export interface WatchRequest<Row> {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly path: string;
  readonly wire: WireFormat<Row>;
  readonly resourceVersion: string;
  /** The server ends the watch after this many seconds. */
  readonly timeoutSeconds: number;
  /** Without event or bookmark for this long, the connection counts as dead. */
  readonly silenceSeconds: number;
  readonly openDeadlineSeconds: number;
  readonly maxEventBytes: number;
  readonly signal: AbortSignal;
  readonly onOpen: () => void;
  readonly onChange: (change: Change<Row>) => void;
}

export type WatchEnd =
  /** The server closed the watch, or it was silent for too long; the next one continues from the last version. */
  | { readonly type: "closed" }
  | { readonly type: "silent" }
  /** The version is too old, or an event could not be read; only a new list helps. */
  | { readonly type: "expired" | "malformed"; readonly message: string }
  | { readonly type: "setback"; readonly setback: Setback };

const errorBodyBytes = 64 * 1024;

/** Runs one watch until it ends for any reason. Never throws. */
export async function watchOnce<Row>(request: WatchRequest<Row>): Promise<WatchEnd> {
  const cut = new AbortController();
  const signal = AbortSignal.any([cut.signal, request.signal]);
  const query = new URLSearchParams({
    watch: "1",
    allowWatchBookmarks: "true",
    resourceVersion: request.resourceVersion,
    timeoutSeconds: String(Math.round(request.timeoutSeconds)),
  });
  const answer = await request.client.open(`${request.path}?${query}`, {
    accept: request.wire.watchAccept,
    signal,
    deadlineSeconds: request.openDeadlineSeconds,
  });
  if (!answer.ok) return { type: "setback", setback: failing(answer.message) };

  const silence = watchSilence(request.clock, request.silenceSeconds, () => cut.abort(new Error("silent")));
  try {
    if (answer.status !== 200) {
      const body = await readAll(answer.body, errorBodyBytes);
      const setback = setbackOf(answer.status, body, answer.retryAfterSeconds);
      // With 400 the server does not understand the version; only a list gives one that it does.
      const isVersion = answer.status === 410 || answer.status === 400;
      return isVersion ? { type: "expired", message: setback.message } : { type: "setback", setback };
    }
    request.onOpen();
    const format = request.wire.formatOf(answer.contentType);
    return await readEvents(request, format, answer.body, silence.received);
  } catch (error) {
    return silence.passed() ? { type: "silent" } : { type: "setback", setback: failing(describe(error)) };
  } finally {
    silence.stop();
    cut.abort();
  }
}

async function readEvents<Row>(
  request: WatchRequest<Row>,
  format: BodyFormat<Row>,
  body: AsyncIterable<Uint8Array>,
  received: () => void,
): Promise<WatchEnd> {
  const reader = format.createReader(request.maxEventBytes);
  for await (const chunk of body) {
    const frames = reader.push(chunk);
    if (frames === null)
      return { type: "malformed", message: `an event is larger than ${request.maxEventBytes} bytes` };
    for (const frame of frames) {
      const event = format.event(frame);
      if (event.type === "malformed") return { type: "malformed", message: event.message };
      if (event.type === "error") return endOf(event.code, event.message);
      received();
      request.onChange(event);
    }
  }
  // If the reader still contains bytes, they are an event that was cut; the next watch begins before it.
  return { type: "closed" };
}

function endOf(code: number, message: string): WatchEnd {
  if (code === 410) return { type: "expired", message };
  return { type: "setback", setback: failing(`the watch ended with error ${code}: ${message}`) };
}

interface Silence {
  readonly received: () => void;
  readonly passed: () => boolean;
  readonly stop: () => void;
}

/** Watches for silence with one timer, which is moved on only when it fires: an event costs no more than reading the time. */
function watchSilence(clock: Clock, seconds: number, onSilence: () => void): Silence {
  let last = clock.monotonic();
  let passed = false;
  let cancel = (): void => {};
  const wait = (remaining: number): void => {
    cancel = clock.schedule(remaining, () => {
      const left = last + seconds - clock.monotonic();
      if (left > 0.001) {
        wait(left);
        return;
      }
      passed = true;
      onSilence();
    });
  };
  wait(seconds);
  return {
    received: () => {
      last = clock.monotonic();
    },
    passed: () => passed,
    stop: () => cancel(),
  };
}
