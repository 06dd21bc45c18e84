import { createLedgerCopies } from "../../exporter/accounts/ledger/ledgerCopies.ts";
import { createLedgerReader } from "../../exporter/accounts/ledger/ledgerReader.ts";
import { openSqliteLedger } from "../../exporter/accounts/ledger/sqliteLedger.ts";
import { cycleEntry, keepAll, start } from "../accounts/ledger/entries.ts";

// Keeps all threads of a ledger inside SQLite: it appends cycles as fast as they are acknowledged, asks and copies without a
// pause, and ends in the way that its parent says on standard input, unless the parent kills it. Says `done N` after each cycle.
const [file = "", first = "0", way = "kill"] = process.argv.slice(2);
const opened = await openSqliteLedger({ file, retention: keepAll, closeMilliseconds: way === "close" ? 5000 : 0 });
if (!opened.ok) throw new Error(opened.problem.message);
const { ledger } = opened;
const reader = createLedgerReader(file, 60_000);
const copies = createLedgerCopies(file);
let ending = false;

async function append(): Promise<void> {
  for (let n = Number(first); !ending; n += 1) {
    ledger.append(cycleEntry(n, start + 30 * n));
    await ledger.flush();
    // Who closes a ledger gives up what waits: nothing is acknowledged by that.
    if (!ending) process.stdout.write(`done ${n}\n`);
  }
}

async function ask(): Promise<void> {
  const query = { from: start, to: start + 1e6 * 3600, groupBy: ["team"], where: new Map(), limit: 100 } as const;
  while (!ending) await reader.query(query);
}

async function copy(): Promise<void> {
  while (!ending) {
    const taken = await copies.take();
    if (taken.ok) await taken.copy.close();
  }
}

process.stdin.once("data", async () => {
  if (way === "exit") process.exit(0);
  if (way === "throw") throw new Error("ends on purpose");
  // Closed with no patience at all, a thread is ended in the midst of its statement; with patience, after it.
  ending = true;
  await Promise.all([ledger.close(), reader.close()]);
  process.stdin.destroy();
});
process.stdout.write("opened\n");
await Promise.all([append(), ask(), copy()]);
