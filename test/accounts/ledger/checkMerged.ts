import { expect } from "vitest";
import { createEntryWriter } from "../../../exporter/accounts/ledger/entryWriter.ts";
import type { LedgerEntry } from "../../../exporter/accounts/ledger/ledger.ts";
import { mergeEntries } from "../../../exporter/accounts/ledger/mergeEntries.ts";
import { packEntry } from "../../../exporter/accounts/ledger/packedEntry.ts";
import { ledgerOf } from "./memoryLedger.ts";
import { totalsOfEntries, totalsOfLedger } from "./naiveTotals.ts";

/** A ledger into which all entries were written as one has the totals of them all. */
export function checkMerged(entries: readonly LedgerEntry[]): void {
  const [first, ...rest] = entries.map(packEntry);
  if (first === undefined) return;
  const db = ledgerOf([]);
  createEntryWriter(db).write(1, rest.reduce(mergeEntries, first));
  expect(totalsOfLedger(db)).toEqual(totalsOfEntries(entries));
  db.close();
}
