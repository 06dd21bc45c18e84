import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach } from "vitest";
import type { Ledger } from "../../../exporter/accounts/ledger/ledger.ts";
import { openSqliteLedger, type SqliteLedgerOptions } from "../../../exporter/accounts/ledger/sqliteLedger.ts";
import { keepAll } from "./entries.ts";

const folders: string[] = [];
const ledgers: Ledger[] = [];

afterEach(async () => {
  await Promise.all(ledgers.splice(0).map((ledger) => ledger.close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A new folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "fairlead-ledger-"));
  folders.push(folder);
  return folder;
}

/** A path for a ledger in a folder of its own. */
export function temporaryFile(): string {
  return path.join(temporaryFolder(), "ledger.db");
}

/** A ledger that must open; closed after the test. */
export async function openLedger(file: string, options: Partial<SqliteLedgerOptions> = {}): Promise<Ledger> {
  const opened = await openSqliteLedger({ file, retention: keepAll, closeMilliseconds: 60_000, ...options });
  if (!opened.ok) throw new Error(`${opened.problem.message} -> ${opened.problem.nextStep}`);
  ledgers.push(opened.ledger);
  return opened.ledger;
}
