import type { Io } from "../../cli/io.ts";
import { plainTerminal } from "../../exporter/publish/terminal/layout.ts";

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
    terminal: plainTerminal,
    interrupted: new Promise(() => {}),
    stdout: () => stdout,
    stderr: () => stderr,
  };
}
