import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";

/** A thread: its module, and how a debugger shows it. */
export interface Thread {
  /** `import.meta.url` of the caller. */
  readonly from: string;
  /** Name of the module beside it that the thread runs, without its ending. */
  readonly module: string;
  readonly name: string;
}

/**
 * Starts a thread, which is TypeScript in the sources and JavaScript in `dist/`.
 *
 * Node removes types from TypeScript by a WebAssembly program, once in each thread. V8 13.6 keeps the code that such programs
 * call JavaScript by in one place for all threads, makes it anew after 1,000 calls, and sometimes frees what a thread that has
 * ended had freed before: one thread in some hundreds ended its process by SIGSEGV or SIGTRAP
 * (docs/decisions/0015-threads-and-types.md). So that code is never made anew. Compiled JavaScript has no types to remove.
 */
export function startThread({ from, module, name }: Thread, workerData: unknown = null): Worker {
  const isSource = from.endsWith(".ts");
  if (isSource) setFlagsFromString(`--wasm-wrapper-tiering-budget=${2 ** 31 - 1}`);
  return new Worker(new URL(`./${module}${isSource ? ".ts" : ".js"}`, from), { workerData, name });
}
