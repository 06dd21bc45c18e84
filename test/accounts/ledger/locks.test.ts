import { closeSync, existsSync, openSync, readFileSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { createLedgerCopies } from "../../../exporter/accounts/ledger/ledgerCopies.ts";
import { createLedgerReader } from "../../../exporter/accounts/ledger/ledgerReader.ts";
import { openSqliteLedger } from "../../../exporter/accounts/ledger/sqliteLedger.ts";
import { temporaryFile } from "./temporaryFolder.ts";

const locks = "/proc/locks";

/** Locks that this process holds on a file, as the kernel lists them. */
function locksOn(file: string): number {
  const { ino } = statSync(file);
  return readFileSync(locks, "utf8")
    .split("\n")
    .filter((line) => line.includes(" POSIX ") && line.includes(`:${ino} `) && line.includes(` ${process.pid} `))
    .length;
}

const question = { from: 0, to: 3600, groupBy: [], where: new Map(), limit: 1 };

// Without its lock on the file, another program that opens and closes the ledger could take the write-ahead log away.
test.skipIf(!existsSync(locks))("questions and copies give up no lock that the writer has on its ledger", async () => {
  const file = temporaryFile();
  const opened = await openSqliteLedger({ file, retention: { hourlyDays: 14, dailyDays: 400, workloadDays: 100 } });
  if (!opened.ok) throw new Error(opened.problem.message);
  const before = locksOn(file);
  expect(before).toBeGreaterThan(0);

  const reader = createLedgerReader(file);
  expect(await reader.query(question)).toMatchObject({ ok: true });
  expect(locksOn(file)).toBeGreaterThanOrEqual(before);

  const taken = await createLedgerCopies(file).take();
  if (!taken.ok) throw new Error("no copy was made");
  await taken.copy.close();
  expect(locksOn(file)).toBeGreaterThanOrEqual(before);

  // What the threads must not do: any handle that is closed gives all locks up.
  closeSync(openSync(file, "r"));
  expect(locksOn(file)).toBe(0);
  await Promise.all([reader.close(), opened.ledger.close()]);
});
