import type { Duplex } from "node:stream";
import { MessageChannel } from "node:worker_threads";
import { startThread } from "../exporter/kernel/startThread.ts";
import type { Finished, FinishedPage, FinishedStart } from "../exporter/publish/front/finished.ts";
import { portStream } from "../exporter/publish/front/portStream.ts";
import type { LevelLog } from "./kubernetesLog.ts";
import { createSteadyClock } from "./steadyClock.ts";
import type { FromExporter, ThreadSettings, ToExporter } from "./threadMessages.ts";

/** The exporter in its thread, as the thread that serves sees it. */
export interface ExporterLink {
  /** Resolves when the exporter is able to start, or has refused to. */
  readonly prepared: Promise<
    { readonly ok: true; readonly api: string } | { readonly ok: false; readonly text: string }
  >;
  readonly finished: Finished;
  /**
   * Opens a connection for a question on behalf of a user (empty: a visitor without a name); `null` once the thread has ended.
   */
  readonly ask: (user: string) => Duplex | null;
  readonly start: () => void;
  /** Ends the exporter. What it has to write is written by the time that `ended` resolves. */
  readonly end: () => void;
  /** Resolves when the thread has ended: with `null` if it was asked to, else with what is known of why. */
  readonly ended: Promise<string | null>;
}

/** Starts the exporter in a thread of its own. Times are those of `now` (seconds since the epoch) and `monotonic` (seconds). */
export function startExporter(
  settings: ThreadSettings,
  log: LevelLog,
  now: () => number,
  monotonic: () => number,
): ExporterLink {
  const thread = startThread({ from: import.meta.url, module: "exporterThread", name: "exporter" }, settings);
  const report = (message: ToExporter): void => thread.postMessage(message);
  const { interval: intervalSeconds } = settings.config;
  const startedAt = now();
  const clock = createSteadyClock(now, monotonic);
  let page: FinishedPage | null = null;
  let start: FinishedStart | null = null;
  let state: Pick<Extract<FromExporter, { kind: "state" }>, "lastCycleAt" | "missing"> = {
    lastCycleAt: null,
    missing: ["the first cycle is not complete yet"],
  };
  let isEnding = false;
  let hasEnded = false;
  let fault: string | null = null;

  const prepared: ExporterLink["prepared"] = new Promise((resolve) => {
    thread.on("message", (message: FromExporter) => {
      if (message.kind === "log") log[message.level](message.fields, message.message);
      else if (message.kind === "refused") {
        isEnding = true;
        resolve({ ok: false, text: message.text });
      } else if (message.kind === "prepared") resolve({ ok: true, api: message.api });
      else if (message.kind === "state") {
        if (message.lastCycleAt !== state.lastCycleAt) clock.setToWall();
        state = message;
      } else if (message.kind === "start") start = message.start;
      else page = { at: message.at, intervalSeconds, page: Buffer.from(message.page.buffer) };
    });
    thread.on("exit", () => resolve({ ok: false, text: `fairlead: ${reason(fault)}\n` }));
  });
  const ended = new Promise<string | null>((resolve) => {
    thread.on("error", (error: unknown) => {
      fault = error instanceof Error ? (error.stack ?? error.message) : String(error);
    });
    thread.on("exit", () => {
      hasEnded = true;
      resolve(isEnding && fault === null ? null : reason(fault));
    });
  });
  return {
    prepared,
    ended,
    finished: {
      page: () => page,
      start: () => start,
      probe: () => ({ startedAt, intervalSeconds, ...state }),
      now: clock.now,
    },
    ask: (user) => {
      if (hasEnded) return null;
      const { port1, port2 } = new MessageChannel();
      thread.postMessage({ kind: "ask", port: port2, user } satisfies ToExporter, [port2]);
      return portStream(port1);
    },
    start: () => report({ kind: "start" }),
    end: () => {
      isEnding = true;
      report({ kind: "end" });
    },
  };
}

const reason = (fault: string | null): string =>
  `the thread that reads, computes and writes has ended by itself: ${fault ?? "it left no error"}`;
