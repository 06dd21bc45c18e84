import { closeSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import type { Problem } from "../../exporter/model/problem.ts";
import type { Io } from "../io.ts";

/** Where an export goes. Each call waits until the text is taken, so that nothing piles up in memory. */
export interface Output {
  /** Writes text; returns the problem if it cannot, else `null`. */
  write(text: string): Problem | null;
  /** Completes the output when all is written; returns the problem if it cannot, else `null`. */
  finish(): Problem | null;
  /** Abandons the output, and leaves nothing behind. */
  discard(): void;
}

/** The opened output of an export, or why it cannot be opened. */
export type OpenedOutput =
  | { readonly ok: true; readonly output: Output }
  | { readonly ok: false; readonly problem: Problem };

/** Opens a file, or standard output (`null`). A file gets its name when it is whole, and replaces what was there. */
export function openOutput(file: string | null, io: Io): OpenedOutput {
  if (file === null) {
    const write = (text: string): null => {
      io.out(text);
      return null;
    };
    return { ok: true, output: { write, finish: () => null, discard: () => {} } };
  }
  const unfinished = `${file}.unfinished`;
  const problemOf = (error: unknown): Problem => ({
    source: "ledger",
    severity: "error",
    code: "export-not-written",
    subject: file,
    message: `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    nextStep: "Name a file in a folder that exists, may be written to, and has space.",
  });
  const attempt = (action: () => void): Problem | null => {
    try {
      action();
      return null;
    } catch (error) {
      return problemOf(error);
    }
  };
  let handle: number;
  try {
    handle = openSync(unfinished, "w");
  } catch (error) {
    return { ok: false, problem: problemOf(error) };
  }
  return {
    ok: true,
    output: {
      write: (text) => attempt(() => writeAll(handle, Buffer.from(text))),
      finish: () =>
        attempt(() => {
          closeSync(handle);
          renameSync(unfinished, file);
        }),
      discard() {
        attempt(() => closeSync(handle));
        attempt(() => rmSync(unfinished, { force: true }));
      },
    },
  };
}

function writeAll(handle: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(handle, bytes, at);
}
