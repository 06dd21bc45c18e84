#!/usr/bin/env -S node --max-semi-space-size=8
import { isatty } from "node:tty";
import { run } from "./run.ts";
import { terminalOf } from "./terminalOf.ts";

const interrupted = new Promise<void>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
});

// Whoever reads a long answer may stop reading (`| head`), which is no fault.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(1);
  throw error;
});

process.exitCode = await run(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  outBytes: (bytes) =>
    new Promise((resolve, reject) => {
      process.stdout.write(bytes, (error) => (error == null ? resolve() : reject(error)));
    }),
  err: (text) => process.stderr.write(text),
  // A getter opens standard input only for a command that reads it.
  get input() {
    return process.stdin;
  },
  isTerminal: process.stdout.isTTY === true,
  terminal: terminalOf(process.stdout, process.argv[1] ?? "", process.env.npm_command),
  ...(isatty(0) && isatty(1)
    ? { openWindow: async () => (await import("./top/window.ts")).openWindow(process.stdin, process.stdout) }
    : {}),
  interrupted,
});
