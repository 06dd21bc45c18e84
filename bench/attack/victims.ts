import { setTimeout as wait } from "node:timers/promises";
import { statusOf } from "../serve.ts";

/** How long the answers took that must come even under attack, for one kind of question. */
export interface Served {
  readonly what: string;
  /** Milliseconds until the whole answer had arrived, in the order of the questions. */
  readonly milliseconds: readonly number[];
  /** The number of answers that did not have status 200, or that broke off. */
  readonly failed: number;
}

/** A question that must be answered even under attack. */
export interface Duty {
  readonly what: string;
  readonly port: number;
  readonly path: string;
  /** Milliseconds between an answer and the next question. */
  readonly every: number;
  /** Returns the Authorization header of the next question; empty: none. */
  readonly credentials: () => string;
  /** For how many milliseconds the question is repeated if the answer is not 200; 0: it is asked once. */
  readonly patience: number;
}

/** Asks a question again and again, each time on a new connection, until the signal ends it. */
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
