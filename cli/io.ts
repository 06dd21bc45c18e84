import type { Terminal } from "../exporter/publish/terminal/layout.ts";
import type { Window } from "./top/window.ts";

/** Where a command writes, and what it may know about its surroundings: the only door to the process. */
export interface Io {
  readonly out: (text: string) => void;
  /** Writes bytes to standard output, where that is possible; resolves when they are taken. */
  readonly outBytes?: (bytes: Uint8Array) => Promise<void>;
  readonly err: (text: string) => void;
  /** The bytes of standard input, where there is one. */
  readonly input?: AsyncIterable<Uint8Array>;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** How texts for people are laid out on standard output. */
  readonly terminal: Terminal;
  /** Takes over the terminal; absent where standard input and output are not both a terminal. */
  readonly openWindow?: () => Promise<Window>;
  /** Resolves when the user asks to end (Ctrl-C, SIGTERM). */
  readonly interrupted: Promise<void>;
}

/** The exit code of a command: 0 all is well, 1 bad input or a fault, 2 wrong use of the command line. */
export type ExitCode = 0 | 1 | 2;
