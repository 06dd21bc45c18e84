import { plainTerminal, type Terminal } from "../exporter/publish/terminal/layout.ts";

/** What a stream reports about its terminal; `NO_COLOR` and the kind of terminal are the stream's own affair. */
export interface TerminalStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  hasColors?(count: number): boolean;
}

const narrowest = 80;
const widest = 200;

/**
 * The terminal behind standard output. `script` is the file that runs, as it was named (`process.argv[1]`); `npmCommand` is
 * what npm sets for what it runs. In a clone, and under `npx`, commands are typed with `npx` before them.
 */
export function terminalOf(stream: TerminalStream, script: string, npmCommand: string | undefined): Terminal {
  const program = npmCommand === "exec" || script.endsWith(".ts") ? "npx fairlead" : "fairlead";
  if (stream.isTTY !== true) return { ...plainTerminal, program };
  return {
    columns: Math.min(widest, Math.max(narrowest, stream.columns ?? plainTerminal.columns)),
    hasColours: stream.hasColors?.(16) === true,
    program,
    source: "",
  };
}
