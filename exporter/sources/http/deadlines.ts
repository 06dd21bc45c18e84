/** Ends what takes too long: all things have the same time, so one timer waits for the oldest. */
export interface Deadlines<T> {
  /** Starts the time of `item`. */
  add(item: T): void;
  remove(item: T): void;
  /** All that is under way, oldest first. */
  items(): readonly T[];
}

/** Calls `expire` for each item that was not removed within `seconds`. Its timer keeps no process alive. */
export function createDeadlines<T>(seconds: number, expire: (item: T) => void): Deadlines<T> {
  const startedAt = new Map<T, number>();
  let isWaiting = false;

  const wait = (milliseconds: number): void => {
    isWaiting = true;
    // One more, since a timer may fire a fraction of a millisecond early.
    setTimeout(check, Math.max(0, milliseconds) + 1).unref();
  };
  const check = (): void => {
    isWaiting = false;
    const now = performance.now();
    for (const [item, from] of startedAt) {
      const left = from + seconds * 1000 - now;
      if (left > 0) {
        wait(left);
        return;
      }
      startedAt.delete(item);
      expire(item);
    }
  };
  return {
    add: (item) => {
      startedAt.set(item, performance.now());
      if (!isWaiting) wait(seconds * 1000);
    },
    remove: (item) => {
      startedAt.delete(item);
    },
    items: () => [...startedAt.keys()],
  };
}
