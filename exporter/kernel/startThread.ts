import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";

/** A thread: its module, and its name in a debugger. */
export interface Thread {
  /** The value of `import.meta.url` in the caller. */
  readonly from: string;
  /** The name of the module that the thread runs, without its ending. It is in the folder of the caller. */
  readonly module: string;
  readonly name: string;
}

/**
 * Starts a thread, which is TypeScript in the sources and JavaScript in `dist/`.
 *
 * Node removes types from TypeScript by a WebAssembly program, once in each thread. V8 13.6 keeps the code with which these
 * programs call JavaScript in one place for all threads, makes it again after 1,000 calls, and sometimes frees what a thread
 * that has ended had freed before: one thread in some hundreds ended its process by SIGSEGV or SIGTRAP
 * (docs/decisions/0015-threads-and-types.md). The flag keeps V8 from making that code again. Compiled JavaScript has no types
 * to remove.
 */
export function startThread({ from, module, name }: Thread, workerData: unknown = null): Worker {
  const isSource = from.endsWith(".ts");
  if (isSource) setFlagsFromString(`--wasm-wrapper-tiering-budget=${2 ** 31 - 1}`);
  return new Worker(new URL(`./${module}${isSource ? ".ts" : ".js"}`, from), { workerData, name });
}
