/** Limits how many tasks run at the same time; the others wait in the order of arrival. */
export interface Slots {
  run<T>(task: () => Promise<T>): Promise<T>;
}

/** Creates slots for `count` tasks, at least 1. */
export function createSlots(count: number): Slots {
  const limit = Math.max(1, Math.floor(count));
  const waiting: (() => void)[] = [];
  let busy = 0;
  return {
    run: async (task) => {
      if (busy < limit) busy += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await task();
      } finally {
        const next = waiting.shift();
        if (next === undefined) busy -= 1;
        else next();
      }
    },
  };
}
