import type { DatabaseSync } from "node:sqlite";
import { type AccountDimension, accountDimensions } from "../../../exporter/accounts/ledger/accountsQuery.ts";
import { readShapes } from "../../../exporter/accounts/ledger/endedShapes.ts";
import { ledgerTables } from "../../../exporter/accounts/ledger/ledgerTableQuery.ts";
import { dimensionsOf } from "../../../exporter/accounts/ledger/ledgerTableSources.ts";
import { queryPrices } from "../../../exporter/accounts/ledger/priceQuery.ts";
import { queryAccounts } from "../../../exporter/accounts/ledger/queryAccounts.ts";
import { queryAdvice } from "../../../exporter/accounts/ledger/queryAdvice.ts";
import { queryJobs } from "../../../exporter/accounts/ledger/queryJobs.ts";
import { queryLedgerTable } from "../../../exporter/accounts/ledger/queryLedgerTable.ts";
import { queryPools } from "../../../exporter/accounts/ledger/queryPools.ts";

const limit = 100_000;
const names: readonly AccountDimension[] = accountDimensions.filter(
  (one) => !["day", "hour", "workload"].includes(one),
);

/** By what was asked, the answer as a text. */
export type AllAnswers = Readonly<Record<string, string>>;

/**
 * All that a ledger answers about a window of whole days: every table by everything that it can be grouped by, and coverage. Numbers
 * are rounded to nine digits, because sums differ in the last ones by the order in which they are added up.
 */
export function allAnswers(db: DatabaseSync, from: number, to: number): AllAnswers {
  const where = new Map();
  const accounts = (groupBy: readonly AccountDimension[]) => queryAccounts(db, { from, to, groupBy, where, limit });
  const tables = ledgerTables.flatMap((of) => {
    const all = dimensionsOf(of).filter((one) => one !== "day" && one !== "hour");
    const times =
      of === "nodeStreaks" || of === "recommendations" ? [[]] : of === "waits" ? [["day"]] : [["day"], ["hour"]];
    return times.map((time) => [
      `${of} by ${time.join()}`,
      queryLedgerTable(db, { of, from, to, groupBy: [...time, ...all], where, limit }),
    ]);
  });
  const answers = {
    byDay: accounts(["day", ...names]),
    byHour: accounts(["hour", ...names]),
    workloads: accounts(["day", "workload", ...names]),
    ...Object.fromEntries(tables),
    prices: queryPrices(db, { from, to, where, limit }),
    pools: queryPools(db, { from, to }),
    advice: queryAdvice(db, { from, to, limit }),
    jobs: queryJobs(db, { from, to, team: null, limit: 100 }),
    shapes: readShapes(db),
    remembered: db.prepare("SELECT * FROM remembered ORDER BY kind, key").all(),
    entry: db.prepare("SELECT entry FROM progress").get(),
  };
  return Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, JSON.stringify(answer, rounded)]));
}

function rounded(_key: string, value: unknown): unknown {
  if (value instanceof Map) return [...value];
  return typeof value === "number" ? Number(value.toPrecision(9)) : value;
}
