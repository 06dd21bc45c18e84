// Needed for the goal `advice-contended` (docs/performance.md).

/** Work that can stop after each piece and go on later. */
export type InPieces<Result> = Generator<void, Result, void>;

/** Does all pieces of some work. */
export function allPieces<Result>(work: InPieces<Result>): Result {
  for (;;) {
    const next = work.next();
    if (next.done === true) return next.value;
  }
}
