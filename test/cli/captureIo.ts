import type { Io } from "../../cli/io.ts";

/** Collects what a command writes. */
export function captureIo(): Io & { readonly stdout: () => string; readonly stderr: () => string } {
  let stdout = "";
  let stderr = "";
  return {
    out: (text) => {
      stdout += text;
    },
    err: (text) => {
      stderr += text;
    },
    isTerminal: false,
    interrupted: new Promise(() => {}),
    stdout: () => stdout,
    stderr: () => stderr,
  };
}
