import type { Terminal } from "../exporter/publish/terminal/layout.ts";
import type { Window } from "./top/window.ts";

/** Where a command writes, and what it may know of its surroundings: the only door to the process. */
export interface Io {
  readonly out: (text: string) => void;
  /** Bytes to standard output, where someone can take them; resolves when they are taken. */
  readonly outBytes?: (bytes: Uint8Array) => Promise<void>;
  readonly err: (text: string) => void;
  /** Bytes from standard input, where there is one. */
  readonly input?: AsyncIterable<Uint8Array>;
  /** Standard output is a terminal. */
  readonly isTerminal: boolean;
  /** How texts for people are laid out on standard output. */
  readonly terminal: Terminal;
  /** Takes over the terminal, where standard input and output are one. */
  readonly openWindow?: () => Promise<Window>;
  /** Resolves when the user asks to end (Ctrl-C, SIGTERM). */
  readonly interrupted: Promise<void>;
}

/** A command's end: 0 all is well, 1 bad input or a fault, 2 wrong use of the command line. */
export type ExitCode = 0 | 1 | 2;
