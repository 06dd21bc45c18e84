import { describe, expect, it } from "vitest";
import { packEntry } from "../../../exporter/accounts/ledger/packedEntry.ts";
import { createWaitingEntries } from "../../../exporter/accounts/ledger/waitingEntries.ts";
import { entry, start } from "./entries.ts";

const numbered = (number: number) => ({ number, entry: packEntry(entry({ from: start + 30 * number })) });

/** GPU-seconds of everything that is taken out in order, by the number it was taken out under. */
function drained(waiting: ReturnType<typeof createWaitingEntries>): [number, number][] {
  const found: [number, number][] = [];
  for (let first = waiting.first(); first !== null; first = waiting.first()) {
    found.push([first.number, first.entry.rows.gpuSeconds.reduce((sum, value) => sum + value, 0)]);
    waiting.written(first.number);
  }
  return found;
}

describe("entries that wait", () => {
  it("are merged, and one that is written before is not written twice", () => {
    for (const writtenBefore of [0, 1, 6, 7, 8]) {
      const waiting = createWaitingEntries(1000);
      for (let number = 1; number <= 8; number += 1) waiting.add(numbered(number));
      const each = drainedOnce(8);
      if (writtenBefore > 0) waiting.written(writtenBefore);
      waiting.add(numbered(9));
      const left = drained(waiting);
      expect(left.at(-1)?.[0]).toBe(9);
      expect(left.reduce((sum, [, seconds]) => sum + seconds, 0)).toBe((9 - writtenBefore) * each);
      // The first may be on its way to the thread as it is: what came after it has a place of its own.
      if (writtenBefore === 7)
        expect(left).toEqual([
          [8, each],
          [9, each],
        ]);
    }
  });
});

it("what cannot be written is taken out in the end, also when it says which prices are in use", () => {
  const waiting = createWaitingEntries(1000);
  const prices = { since: start, prices: [] };
  waiting.add({ number: 1, entry: packEntry(entry({ prices })) });
  waiting.giveUpFirst();
  expect(waiting.first()?.entry.prices).toEqual([prices]);
  waiting.giveUpFirst();
  expect(waiting.first()).toBeNull();
  expect(waiting.lost()).toEqual({ entries: 1, seconds: 30 });
});

it("what has no postings is taken out at once, and its time is lost once", () => {
  const waiting = createWaitingEntries(1000);
  const prices = { since: start, prices: [] };
  waiting.add({ number: 1, entry: packEntry(entry({ prices, postings: [] })) });
  expect(waiting.first()?.entry.rows.hour).toHaveLength(0);
  waiting.giveUpFirst();
  expect(waiting.first()).toBeNull();
  expect(waiting.lost()).toEqual({ entries: 1, seconds: 30 });
});

it("entries that are merged do not gather prices without end", () => {
  const waiting = createWaitingEntries(1_000_000);
  for (let number = 1; number <= 200; number += 1) {
    const from = start + 30 * number;
    waiting.add({ number, entry: packEntry(entry({ from, prices: { since: from, prices: [] } })) });
  }
  const sets: number[] = [];
  for (let first = waiting.first(); first !== null; first = waiting.first()) {
    sets.push(first.entry.prices.length);
    waiting.written(first.number);
  }
  expect(sets.at(-1)).toBe(20);
});

function drainedOnce(number: number): number {
  const waiting = createWaitingEntries(1000);
  waiting.add(numbered(number));
  return drained(waiting)[0]?.[1] ?? 0;
}
