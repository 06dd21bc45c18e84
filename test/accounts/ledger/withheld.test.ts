import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { createEntryWriter } from "../../../exporter/accounts/ledger/entryWriter.ts";
import { mergeEntries } from "../../../exporter/accounts/ledger/mergeEntries.ts";
import { mergeLedgers } from "../../../exporter/accounts/ledger/mergeLedgers.ts";
import { openForWriting } from "../../../exporter/accounts/ledger/openForWriting.ts";
import { packEntry } from "../../../exporter/accounts/ledger/packedEntry.ts";
import { createRetention } from "../../../exporter/accounts/ledger/retention.ts";
import { ledgerMigrations, withheldMigration } from "../../../exporter/accounts/ledger/schema.ts";
import { queryWithheld } from "../../../exporter/accounts/ledger/withheld.ts";
import type { StoredWithheld } from "../../../exporter/model/storedAdvice.ts";
import { entry, start } from "./entries.ts";
import { ledgerOf } from "./memoryLedger.ts";
import { openLedger, temporaryFile } from "./temporaryFolder.ts";

const hour = 3600;
const day = 86_400;

const allocated = (parts: Partial<StoredWithheld> = {}): StoredWithheld => ({
  id: "w-1",
  begins: start,
  ends: start + hour,
  kind: "scale_in",
  subject: "a100",
  why: "no-plan",
  reason: "they are reserved",
  ...parts,
});

const on = (days: number, ...withheld: readonly StoredWithheld[]) => ({
  ...entry({ from: start + days * day, to: start + days * day + hour }),
  withheld,
});

const rowsOf = (db: DatabaseSync, from = start, to = start + 10 * day, limit = 10) => {
  const answered = queryWithheld(db, { from, to, limit });
  return answered.ok
    ? answered.answer.rows.map(({ subject, reason, seconds }) => [subject, reason, seconds])
    : answered.error;
};

describe("why needs were not served, in the ledger", () => {
  const later = allocated({ ends: start + 3 * hour, reason: "8 are reserved" });
  const other = allocated({ id: "w-2", subject: "h100", ends: start + 2 * hour });

  test("is a row for each time, as it was said last, and is added up within a window", () => {
    const again = allocated({ begins: start + day, ends: start + day + hour, reason: "9 are reserved" });
    const db = ledgerOf([on(0, allocated(), other), on(0.2, later), on(1, again)]);
    expect(rowsOf(db)).toEqual([
      ["a100", "9 are reserved", 4 * hour],
      ["h100", "they are reserved", 2 * hour],
    ]);
    expect(rowsOf(db, start + 2 * hour, start + day)).toEqual([
      ["a100", "8 are reserved", hour],
      ["h100", "they are reserved", 0],
    ]);
    expect(rowsOf(db, start, start + 10 * day, 1)).toHaveLength(1);
    expect(rowsOf(db, start, start)).toContain("before it begins");
  });

  test("is the same after entries were merged", () => {
    const packed = [on(0, allocated()), on(0.2, later)].map(packEntry);
    const [first, second] = packed;
    if (first === undefined || second === undefined) throw new Error("there are two");
    const db = ledgerOf([]);
    createEntryWriter(db).write(1, mergeEntries(first, second));
    expect(rowsOf(db)).toEqual([["a100", "8 are reserved", 3 * hour]]);
  });

  test("is kept for as long as daily sums", () => {
    const db = ledgerOf([
      on(0, allocated()),
      on(40, allocated({ begins: start + 40 * day, ends: start + 40 * day + hour })),
    ]);
    const retention = createRetention(db, { hourlyDays: 5, dailyDays: 12, workloadDays: 12 });
    while (retention.slice());
    expect(db.prepare("SELECT count(*) AS n FROM withheld_advice").get()).toEqual({ n: 1 });
  });

  test("of two replicas counts once, for both saw the same", async () => {
    const files = [temporaryFile(), temporaryFile()];
    for (const [i, file] of files.entries()) {
      const ledger = await openLedger(file);
      ledger.append(on(0, allocated({ begins: start + i * 60, ends: start + hour + i * 60 })));
      await ledger.close();
    }
    const target = temporaryFile();
    expect(mergeLedgers(files, target)).toMatchObject({ ok: true });
    const db = new DatabaseSync(target, { readOnly: true });
    expect(rowsOf(db)).toEqual([["a100", "they are reserved", hour + 60]]);
    db.close();
  });

  test("a ledger from before has none, and gets its table", () => {
    const file = temporaryFile();
    const before = openForWriting(file, ledgerMigrations.slice(0, ledgerMigrations.indexOf(withheldMigration)));
    if (!before.ok) throw new Error(before.problem.message);
    before.ledger.db.close();
    before.ledger.lock.release();
    const now = openForWriting(file, ledgerMigrations);
    if (!now.ok) throw new Error(now.problem.message);
    expect(rowsOf(now.ledger.db)).toEqual([]);
    now.ledger.db.close();
    now.ledger.lock.release();
  });
});
