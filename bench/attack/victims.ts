import { setTimeout as wait } from "node:timers/promises";
import { statusOf } from "../serve.ts";

/** How long answers took that had to come, by what was asked. */
export interface Served {
  readonly what: string;
  /** Milliseconds until the whole answer was there, in order of time. */
  readonly milliseconds: readonly number[];
  /** Answers that were not 200, or broke off. */
  readonly failed: number;
}

/** Something that must go on under attack. */
export interface Duty {
  readonly what: string;
  readonly port: number;
  readonly path: string;
  /** Milliseconds between two askings. */
  readonly every: number;
  /** The Authorization header of the next asking; empty: none. */
  readonly credentials: () => string;
  /** Milliseconds for which it is asked again where it is asked to come back; 0: once. */
  readonly patience: number;
}

/** Asks on a new connection each time, until it is over. */
export async function perform(
  { what, port, path, every, credentials, patience }: Duty,
  over: AbortSignal,
): Promise<Served> {
  const milliseconds: number[] = [];
  let failed = 0;
  while (!over.aborted) {
    const authorization = credentials();
    const from = performance.now();
    let status = await statusOf(port, path, authorization);
    while (status !== 200 && performance.now() - from < patience) {
      await wait(250);
      status = await statusOf(port, path, authorization);
    }
    if (status === 200) milliseconds.push(performance.now() - from);
    else failed += 1;
    await wait(every);
  }
  return { what, milliseconds, failed };
}
