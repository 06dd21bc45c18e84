import { mergeEntries, withoutPostings } from "./mergeEntries.ts";
import { capacityRowCount } from "./packedCapacity.ts";
import type { PackedEntry } from "./packedEntry.ts";
import { queueRowCount } from "./packedQueues.ts";

/** An entry with its number; an entry that was merged from several has the number of the last one. */
export interface NumberedEntry {
  readonly number: number;
  readonly entry: PackedEntry;
}

/** The entries that had to be given up. */
export interface LostTime {
  readonly entries: number;
  /** Seconds of covered time whose postings are not in the ledger. */
  readonly seconds: number;
}

/**
 * Entries that are not written yet, in their order. They are bounded: entries are merged when many wait, and cut when that is
 * not enough.
 */
export interface WaitingEntries {
  add(entry: NumberedEntry): void;
  first(): NumberedEntry | null;
  /** Removes all entries up to this number, because they are written. */
  written(number: number): void;
  /** Gives up the postings of the first entry; an entry without postings is removed. */
  giveUpFirst(): void;
  /** Gives up all entries. */
  giveUpAll(): void;
  lost(): LostTime;
}

/** The most entries; with this many, new ones are merged into the last one. The first may be on its way and stays as it is. */
const maxEntries = 8;

/** The number of rows of an entry that can be given up. */
const rowsOf = ({ rows, queues, capacity }: PackedEntry): number =>
  rows.hour.length + queueRowCount(queues) + capacityRowCount(capacity);

/** Creates an empty queue for at most `maxRows` postings and rows of queues. */
export function createWaitingEntries(maxRows: number): WaitingEntries {
  let waiting: NumberedEntry[] = [];
  let lost: LostTime = { entries: 0, seconds: 0 };

  const rows = (): number => waiting.reduce((sum, { entry }) => sum + rowsOf(entry), 0);

  function giveUp({ number, entry }: NumberedEntry): NumberedEntry {
    const covered = entry.intervals.filter((interval) => interval.gap === null);
    const seconds = covered.reduce((sum, interval) => sum + interval.seconds, 0);
    if (covered.length > 0) lost = { entries: lost.entries + 1, seconds: lost.seconds + seconds };
    return { number, entry: withoutPostings(entry) };
  }

  return {
    add(added) {
      const fits = rows() + rowsOf(added.entry) <= maxRows;
      const next = fits ? added : giveUp(added);
      const last = waiting.at(-1);
      if (last === undefined || waiting.length < maxEntries) waiting.push(next);
      else waiting[waiting.length - 1] = { number: next.number, entry: mergeEntries(last.entry, next.entry) };
    },
    first: () => waiting[0] ?? null,
    written(number) {
      waiting = waiting.filter((entry) => entry.number > number);
    },
    giveUpFirst() {
      const [first, ...rest] = waiting;
      if (first === undefined) return;
      const left = giveUp(first);
      waiting = rowsOf(first.entry) === 0 ? rest : [left, ...rest];
    },
    giveUpAll() {
      for (const entry of waiting) giveUp(entry);
      waiting = [];
    },
    lost: () => lost,
  };
}
