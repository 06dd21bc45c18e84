import { openSqliteLedger } from "../../../exporter/accounts/ledger/sqliteLedger.ts";
import { keepAll } from "./entries.ts";

// Opens a ledger as another user and says how that went, as JSON.
const opened = await openSqliteLedger({ file: process.argv[2] ?? "", retention: keepAll });
process.stdout.write(JSON.stringify(opened.ok ? null : opened.problem));
if (opened.ok) await opened.ledger.close();
