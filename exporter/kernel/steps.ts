/** Work that pauses now and then; what it returns is complete. */
export type Steps<Result> = Generator<void, Result>;

/** Does all the work at once. */
export function inOneStep<Result>(steps: Steps<Result>): Result {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** Does the work with a rest whenever it has run for `budget` on the clock `now`. */
export async function withRests<Result>(
  steps: Steps<Result>,
  budget: number,
  now: () => number,
  rest: () => Promise<unknown>,
): Promise<Result> {
  let from = now();
  let step = steps.next();
  while (step.done !== true) {
    if (now() - from >= budget) {
      await rest();
      from = now();
    }
    step = steps.next();
  }
  return step.value;
}
