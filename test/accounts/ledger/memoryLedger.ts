import { DatabaseSync } from "node:sqlite";
import { createEntryWriter } from "../../../exporter/accounts/ledger/entryWriter.ts";
import type { LedgerEntry } from "../../../exporter/accounts/ledger/ledger.ts";
import type { LedgerTableQuery } from "../../../exporter/accounts/ledger/ledgerTableQuery.ts";
import { packEntry } from "../../../exporter/accounts/ledger/packedEntry.ts";
import { ledgerMigrations } from "../../../exporter/accounts/ledger/schema.ts";
import { start } from "./entries.ts";

/** A ledger in memory, written without a thread. */
export function ledgerOf(entries: readonly LedgerEntry[]): DatabaseSync {
  const db = new DatabaseSync(":memory:");
  for (const step of ledgerMigrations) db.exec(step);
  const writer = createEntryWriter(db);
  for (const [i, one] of entries.entries()) writer.write(i + 1, packEntry(one));
  return db;
}

/** A question about a hundred days. */
export function question(of: LedgerTableQuery["of"], values: Partial<LedgerTableQuery> = {}): LedgerTableQuery {
  return { of, from: start, to: start + 100 * 86_400, groupBy: [], where: new Map(), limit: 1000, ...values };
}
