import type { Problem } from "../../model/problem.ts";
import { endGently } from "./endGently.ts";
import { ledgerProblem } from "./ledgerProblem.ts";
import { startThread } from "./startThread.ts";
import type { WriterReport, WriterRequest, WriterSettings } from "./writerMessages.ts";

/** A writer's thread that has opened the ledger. */
export interface WriterLink {
  readonly opened: WriterReport & { readonly kind: "opened" };
  send(request: WriterRequest): void;
  /** Says the thread to close the ledger and to end; after this time it is ended, whatever it does. */
  end(patienceMilliseconds: number): Promise<void>;
}

/** Receives what a writer's thread says after it has opened the ledger. */
export interface WriterListener {
  onReport(report: WriterReport): void;
  /** The thread is gone. */
  onEnd(problem: Problem): void;
}

export type StartedWriter =
  | { readonly ok: true; readonly link: WriterLink }
  | { readonly ok: false; readonly problem: Problem };

/** Starts a thread that owns the ledger's writing connection. */
export function startWriter(settings: WriterSettings, listener: WriterListener): Promise<StartedWriter> {
  const worker = startThread("writerThread", settings);
  const send = (request: WriterRequest): void => worker.postMessage(request);
  const end = (patienceMilliseconds: number): Promise<void> => {
    send({ kind: "close" });
    return endGently(worker, patienceMilliseconds);
  };
  return new Promise((resolve) => {
    let ended: string | null = null;
    worker.on("message", (report: WriterReport) => {
      if (report.kind === "opened") {
        resolve({ ok: true, link: { opened: report, send, end } });
      } else if (report.kind === "refused") {
        resolve({ ok: false, problem: report.problem });
        send({ kind: "close" });
      } else listener.onReport(report);
    });
    worker.on("error", (error: unknown) => {
      ended = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    });
    worker.on("exit", (code) => {
      const found = `lost the thread that writes it: ${ended ?? `exit code ${code}`}`;
      const problem = ledgerProblem("ledger-writer-ended", settings.file, found);
      resolve({ ok: false, problem });
      listener.onEnd(problem);
    });
  });
}
