import { readlinkSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { createAnswerer } from "../exporter/publish/front/forward.ts";
import { portStream } from "../exporter/publish/front/portStream.ts";
import { prepareExporter } from "./runExporter.ts";
import type { FromExporter, LogLevel, ThreadSettings, ToExporter } from "./threadMessages.ts";

// The thread in which everything is read, computed and written; the main thread speaks with the network.
const port = parentPort;
if (port === null) throw new Error("the exporter runs in a thread of its own");
const report = (message: FromExporter, transfer: readonly ArrayBuffer[] = []): void =>
  port.postMessage(message, [...transfer]);
const settings: ThreadSettings = workerData;

const lineAt =
  (level: LogLevel) =>
  (fields: object, message: string): void =>
    report({ kind: "log", level, fields, message });

let begin = (): void => {};
const started = new Promise<void>((resolve) => {
  begin = resolve;
});
let interrupt = (): void => {};
const interrupted = new Promise<void>((resolve) => {
  interrupt = resolve;
});
let answer: ReturnType<typeof createAnswerer> | null = null;

port.on("message", (message: ToExporter) => {
  if (message.kind === "start") begin();
  else if (message.kind === "end") interrupt();
  else if (answer === null) message.port.close();
  else answer(portStream(message.port), message.user);
});

/** How much less urgent computing is than answering, in the units of `nice`. */
const niceness = 5;

/**
 * Lets other threads of the process run first where cores are short; threads that this one starts inherit this. Linux keeps a
 * priority for each thread, and shares of different containers do not depend on it. Elsewhere nothing changes.
 */
function giveWay(): void {
  try {
    const thread = /^\d+\/task\/(\d+)$/.exec(readlinkSync("/proc/thread-self"))?.[1];
    if (thread !== undefined) setPriority(Number(thread), Math.min(19, getPriority(Number(thread)) + niceness));
  } catch {
    // Without the lower priority, threads take turns.
  }
}

giveWay();
const prepared = await prepareExporter(settings, {
  debug: lineAt("debug"),
  info: lineAt("info"),
  warn: lineAt("warn"),
});
if (!prepared.ok) report({ kind: "refused", text: prepared.text });
else {
  answer = createAnswerer(prepared.exporter.answers);
  report({ kind: "prepared", api: prepared.exporter.api });
  await Promise.race([started, interrupted]);
  await prepared.exporter.run(interrupted, {
    onPage: ({ at, page }) => {
      const bytes = new Uint8Array(page);
      report({ kind: "page", at, page: bytes }, [bytes.buffer]);
    },
    onStart: (start) => report({ kind: "start", start }),
    onState: (state) => report({ kind: "state", ...state }),
  });
}
port.close();
