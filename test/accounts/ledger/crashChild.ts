import { openSqliteLedger } from "../../../exporter/accounts/ledger/sqliteLedger.ts";
import { cycleEntry, keepAll } from "./entries.ts";

// Appends cycles as fast as they are acknowledged, until it is killed. Says `begin N` before, `done N` after each; and
// before them `opening`, and `opened` with the end of the last interval that the ledger remembers.
const [file = "", first = "0", at = "0"] = process.argv.slice(2);
process.stdout.write("opening\n");
const opened = await openSqliteLedger({ file, retention: keepAll });
if (!opened.ok) throw new Error(opened.problem.message);
process.stdout.write(`opened ${opened.ledger.start.lastInterval?.to ?? "empty"}\n`);
for (let n = Number(first), from = Number(at); ; n += 1, from += 30) {
  process.stdout.write(`begin ${n} ${from}\n`);
  opened.ledger.append(cycleEntry(n, from));
  await opened.ledger.flush();
  process.stdout.write(`done ${n} ${from}\n`);
}
