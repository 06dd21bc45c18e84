import { z } from "zod";
import { firstLookSeconds } from "../analysis/startTimes/replayWaits.ts";
import type { PastStart } from "../analysis/startTimes/startTimes.ts";
import type { Remembered, RememberedChange } from "./ledger/ledger.ts";
import { amount, readText } from "./rememberedText.ts";

/** The kind of these rows in the ledger's table `remembered`. */
export const startKind = "start";

/**
 * The most starts that are remembered, over all queues: the newest replace the oldest. They take a few megabytes, in memory and
 * in the ledger.
 */
const mostStarts = 20_000;

/** The longest name of a queue or domain, so that rows stay small; no object of Kubernetes has a longer one. */
const longestName = 600;

/** The waits that have ended because the work started, so that later ones can be foreseen. */
export interface StartAccount {
  /** Takes in starts that were not seen before. Work that hardly waited says nothing, and is left out. */
  add(starts: readonly PastStart[]): void;
  /** All that are remembered, the oldest first. */
  past(): readonly PastStart[];
  /** What must be remembered since the last call. */
  takeChanges(): readonly RememberedChange[];
}

/** Opens the account. `remembered` holds the rows of the ledger; `null` if there is none, and then there is nothing to write. */
export function createStartAccount(remembered: readonly Remembered[] | null, most: number = mostStarts): StartAccount {
  const slots: (PastStart | undefined)[] = [];
  let sorted: readonly PastStart[] | null = null;
  let changes: RememberedChange[] = [];
  let next = 0;

  const keep = (start: PastStart, slot: number): void => {
    slots[slot] = start;
    sorted = null;
  };
  let newest = Number.NEGATIVE_INFINITY;
  for (const { slot, start } of startsIn(remembered ?? [], most)) {
    keep(start, slot);
    if (start.startedAt < newest) continue;
    newest = start.startedAt;
    next = (slot + 1) % most;
  }

  return {
    add(starts) {
      for (const start of starts) {
        const isLong = start.queue.length > longestName || start.domain.length > longestName;
        if (isLong || start.startedAt - start.since <= firstLookSeconds) continue;
        keep(start, next);
        if (remembered !== null) changes.push(rowOf(next, start));
        next = (next + 1) % most;
      }
    },
    past() {
      sorted ??= slots.filter((start) => start !== undefined).sort((a, b) => a.startedAt - b.startedAt);
      return sorted;
    },
    takeChanges() {
      const taken = changes;
      changes = [];
      return taken;
    },
  };
}

/** The starts that can be read from the rows of a ledger, the oldest first. */
export const pastStartsIn = (rows: readonly Remembered[]): readonly PastStart[] =>
  startsIn(rows, Infinity)
    .map(({ start }) => start)
    .sort((a, b) => a.startedAt - b.startedAt);

const rowOf = (slot: number, { queue, domain, since, startedAt, gpus, priority }: PastStart): RememberedChange => ({
  kind: startKind,
  key: String(slot),
  value: JSON.stringify([queue, domain, since, startedAt, gpus, priority]),
});

const rowValue = z.tuple([z.string(), z.string(), amount, amount, amount, z.number()]);

function startsIn(
  rows: readonly Remembered[],
  most: number,
): readonly { readonly slot: number; readonly start: PastStart }[] {
  return rows.flatMap(({ kind, key, value }) => {
    const slot = Number(key);
    const read =
      kind === startKind && Number.isSafeInteger(slot) && slot >= 0 && slot < most ? readText(rowValue, value) : null;
    if (read === null) return [];
    const [queue, domain, since, startedAt, gpus, priority] = read;
    return [{ slot, start: { queue, domain, since, startedAt, gpus, priority } }];
  });
}
