import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import type { AccountDimension } from "../exporter/accounts/ledger/accountsQuery.ts";
import { checkLedger } from "../exporter/accounts/ledger/checkLedger.ts";
import type { LedgerTable } from "../exporter/accounts/ledger/ledgerTableQuery.ts";
import { openToQuery } from "../exporter/accounts/ledger/openToQuery.ts";
import { queryAccounts } from "../exporter/accounts/ledger/queryAccounts.ts";
import { queryLedgerTable } from "../exporter/accounts/ledger/queryLedgerTable.ts";
import {
  append,
  days,
  fillQuarter,
  firstDay,
  openQuarter,
  postings,
  statesOfWorkload,
  workloadsADay,
} from "./quarterLedger.ts";

// Measures how large the ledger of a large cluster becomes in a quarter, and how long it takes to write a cycle and to answer
// questions.
// Run: node bench/ledgerSize.ts

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(2);
const folder = mkdtempSync(path.join(tmpdir(), "fairlead-ledger-bench-"));
const file = path.join(folder, "ledger.db");

try {
  const began = performance.now();
  const filled = await openQuarter(file);
  const at = await fillQuarter(filled);
  await filled.close();
  const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0);
  say(`filled in ${seconds(began)} s: ${days} days, ${(bytes / 1e6).toFixed(0)} MB`);

  const reopened = performance.now();
  const ledger = await openQuarter(file);
  say(`open with check of the whole file: ${seconds(reopened)} s`);
  for (const rows of [10_000, 50_000]) {
    const hour = at + (rows === 10_000 ? 0 : 3600);
    const times: { readonly blocked: number; readonly written: number }[] = [];
    for (let cycle = 0; cycle < 8; cycle += 1) {
      const from = hour + 30 * cycle;
      const made = postings(hour, days, Math.min(workloadsADay, Math.round(rows / statesOfWorkload)), 0, 30);
      const before = performance.now();
      append(ledger, from, from + 30, made, true);
      const blocked = performance.now() - before;
      await ledger.flush();
      times.push({ blocked, written: performance.now() - before });
    }
    const [first] = times;
    const later = times.slice(1);
    const median = (values: readonly number[]): string =>
      ([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0).toFixed(0);
    say(
      `append of ${rows} postings: first of the hour ${first?.written.toFixed(0)} ms, later ${median(later.map((t) => t.written))} ms; the cycle's own thread ${median(later.map((t) => t.blocked))} ms`,
    );
  }
  await ledger.close();

  const reading = openToQuery(file);
  if (!reading.ok) throw new Error(reading.problem.message);
  const { db } = reading;
  const end = (firstDay + days) * 86_400;
  const questions: readonly (readonly [string, number, readonly AccountDimension[]])[] = [
    ["per team and state, a week", 7, ["team", "state"]],
    ["per pool and state by day, 13 weeks", days, ["day", "pool", "state"]],
    ["per team and state, 13 weeks", days, ["team", "state"]],
    ["workloads, a week", 7, ["workload"]],
  ];
  for (const [name, length, groupBy] of questions) {
    const before = performance.now();
    const result = queryAccounts(db, { from: end - length * 86_400, to: end, groupBy, where: new Map(), limit: 20 });
    if (!result.ok) throw new Error(result.error);
    say(`${name}: ${seconds(before)} s, ${result.answer.totalRows} groups`);
  }
  for (const account of ["domains", "placement", "nodeStreaks"] satisfies readonly LedgerTable[]) {
    const groupBy = account === "nodeStreaks" ? ["node", "state"] : [account === "domains" ? "domain" : "pool"];
    const asked = performance.now();
    const window = { from: end - 7 * 86_400, to: end };
    const result = queryLedgerTable(db, { of: account, ...window, groupBy, where: new Map(), limit: 20 });
    if (!result.ok) throw new Error(result.error);
    say(`${account}, a week: ${seconds(asked)} s, ${result.answer.totalRows} groups`);
  }
  const before = performance.now();
  const check = checkLedger(db);
  say(`check: ${seconds(before)} s, ${check.wrong.length} wrong; rows ${JSON.stringify(check.rows)}`);
  for (const { name, size } of tableSizes()) say(`  ${name}: ${(size / 1e6).toFixed(0)} MB`);
  db.close();

  function tableSizes(): readonly { readonly name: string; readonly size: number }[] {
    try {
      return db
        .prepare("SELECT name, sum(pgsize) AS size FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 12")
        .all()
        .map((row) => ({ name: String(row.name), size: Number(row.size) }));
    } catch {
      return [];
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
