import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { backupLedger } from "../../../exporter/accounts/ledger/backupLedger.ts";
import { checkLedger } from "../../../exporter/accounts/ledger/checkLedger.ts";
import { createEntryWriter } from "../../../exporter/accounts/ledger/entryWriter.ts";
import { createLedgerReader } from "../../../exporter/accounts/ledger/ledgerReader.ts";
import { mergeEntries, withoutPostings } from "../../../exporter/accounts/ledger/mergeEntries.ts";
import { openForWriting } from "../../../exporter/accounts/ledger/openForWriting.ts";
import { packEntry } from "../../../exporter/accounts/ledger/packedEntry.ts";
import { queryLedgerTable } from "../../../exporter/accounts/ledger/queryLedgerTable.ts";
import { createRetention } from "../../../exporter/accounts/ledger/retention.ts";
import { ledgerMigrations, ledgerVersion } from "../../../exporter/accounts/ledger/schema.ts";
import type { NodeStreak } from "../../../exporter/accounts/nodeStreakAccount.ts";
import { domainTime, entry, nodeStreak, queueTime, start } from "./entries.ts";
import { ledgerOf, question } from "./memoryLedger.ts";
import { openLedger, temporaryFile } from "./temporaryFolder.ts";

const hour = 3600;
const day = 86_400;

/** A ledger that covers ten days, with these streaks. */
const withStreaks = (...nodeStreaks: readonly NodeStreak[]): DatabaseSync =>
  ledgerOf([entry({ to: start + 10 * day, nodeStreaks })]);

function ask(db: DatabaseSync, values: Partial<ReturnType<typeof question>> = {}) {
  const result = queryLedgerTable(db, question("nodeStreaks", { groupBy: ["node", "state"], ...values }));
  if (!result.ok) throw new Error(result.error);
  return result.answer;
}

const rowsOf = (db: DatabaseSync) =>
  db
    .prepare("SELECT node, begins, ends FROM node_streaks ORDER BY node, begins")
    .all()
    .map((row) => [row.node, Number(row.begins) - start, row.ends === null ? null : Number(row.ends) - start]);

describe("answers about streaks of nodes", () => {
  const db = withStreaks(
    nodeStreak({ node: "n1", begins: start, ends: start + 5 * hour }),
    nodeStreak({ node: "n1", begins: start + 8 * hour, ends: start + 10 * hour }),
    nodeStreak({ node: "n2", state: "idle_allocated", gpus: null, begins: start + 2 * hour, ends: start + 9 * hour }),
    nodeStreak({ node: "n3", state: "not_ready", gpus: 4, begins: start + 6 * hour }),
  );

  test("have the part of each within the window, and the whole of the longest", () => {
    const { rows, totals } = ask(db, { from: start + 3 * hour, to: start + 9 * hour });
    expect(rows).toEqual(
      [
        {
          values: ["n2", "idle_allocated"],
          amounts: {
            streaks: 1,
            seconds: 6 * hour,
            gpuSeconds: null,
            longestSeconds: 6 * hour,
            longestGpus: null,
            longestBegins: start + 2 * hour,
            longestEnds: start + 9 * hour,
          },
        },
        {
          values: ["n1", "cordoned"],
          amounts: {
            streaks: 2,
            seconds: 3 * hour,
            gpuSeconds: 24 * hour,
            longestSeconds: 2 * hour,
            longestGpus: 8,
            longestBegins: start,
            longestEnds: start + 5 * hour,
          },
        },
        {
          values: ["n3", "not_ready"],
          amounts: {
            streaks: 1,
            seconds: 3 * hour,
            gpuSeconds: 12 * hour,
            longestSeconds: 3 * hour,
            longestGpus: 4,
            longestBegins: start + 6 * hour,
            longestEnds: null,
          },
        },
      ].sort((a, b) => b.amounts.seconds - a.amounts.seconds),
    );
    expect(totals).toMatchObject({ streaks: 4, seconds: 12 * hour, gpuSeconds: 36 * hour, longestSeconds: 6 * hour });
  });

  test("of one that lasts go up to the last moment that is covered, and not into the future", () => {
    const { rows } = ask(db, { where: new Map([["node", ["n3"]]]) });
    expect(rows).toMatchObject([{ amounts: { seconds: 10 * day - 6 * hour, longestEnds: null } }]);
    expect(ask(db, { from: start + 10 * day, to: start + 11 * day })).toMatchObject({
      rows: [],
      totals: { streaks: 0 },
    });
  });

  test("begin with the longest, and can be chosen by pool and state", () => {
    expect(ask(db).rows.map(({ values }) => values[0])).toEqual(["n3", "n1", "n2"]);
    const { rows } = ask(db, { groupBy: ["pool"], where: new Map([["state", ["cordoned"]]]) });
    expect(rows).toMatchObject([{ values: ["h100"], amounts: { streaks: 2, seconds: 7 * hour } }]);
  });
});

describe("streaks in the ledger", () => {
  const begun = nodeStreak();
  const ended = nodeStreak({ ends: start + 2 * hour, gpus: null });
  const reported = (...nodeStreaks: readonly NodeStreak[]) => entry({ nodeStreaks });

  test("get their end when they have one, and keep what was known of the node", () => {
    const db = ledgerOf([reported(begun), reported(ended)]);
    expect(rowsOf(db)).toEqual([["n1", 0, 2 * hour]]);
    expect(db.prepare("SELECT gpus FROM node_streaks").get()).toEqual({ gpus: 8 });
  });

  test("are the same after entries were merged, and when their postings could not be kept", () => {
    const next = nodeStreak({ begins: start + 3 * hour });
    const [first, second, third] = [reported(begun, nodeStreak({ node: "n2" })), reported(ended), reported(next)].map(
      packEntry,
    );
    if (first === undefined || second === undefined || third === undefined) throw new Error("there are three");
    const db = ledgerOf([]);
    createEntryWriter(db).write(1, withoutPostings(mergeEntries(mergeEntries(first, second), third)));
    expect(rowsOf(db)).toEqual([
      ["n1", 0, 2 * hour],
      ["n1", 3 * hour, null],
      ["n2", 0, null],
    ]);
  });

  test("whose end could not be kept end where the next of their node begins", () => {
    const db = ledgerOf([reported(begun), reported(nodeStreak({ begins: start + 3 * hour }))]);
    expect(rowsOf(db)).toEqual([
      ["n1", 0, 3 * hour],
      ["n1", 3 * hour, null],
    ]);
    expect(checkLedger(db).wrong).toEqual([]);
  });

  test("are pruned by their end; those that last stay", () => {
    const later = start + 30 * day;
    const db = ledgerOf([
      entry({ to: start + hour, nodeStreaks: [nodeStreak({ node: "lasts" }), ended] }),
      entry({ from: later, to: later + hour, nodeStreaks: [nodeStreak({ node: "late", ends: later })] }),
    ]);
    const retention = createRetention(db, { hourlyDays: 5, dailyDays: 10, workloadDays: 10 });
    while (retention.slice());
    expect(rowsOf(db).map(([node]) => node)).toEqual(["lasts", "late"]);
  });

  test.each([
    ["UPDATE node_streaks SET ends = begins - 1", "node n1 ends a state before it begins it"],
    [
      `INSERT INTO node_streaks SELECT node, begins + 1, NULL, node_pool, pool, state, gpus FROM node_streaks`,
      "node n1 is in two states at once",
    ],
  ])("are checked: %s", (sql, wrong) => {
    const db = ledgerOf([reported(begun)]);
    db.exec(sql);
    expect(checkLedger(db).wrong).toEqual([wrong]);
  });
});

test("a file of version 4 gets the new accounts, keeps what it holds, and takes entries with them", async () => {
  const file = temporaryFile();
  const opened = openForWriting(file, ledgerMigrations.slice(0, 4));
  if (!opened.ok) throw new Error(opened.problem.message);
  const { db: old, lock } = opened.ledger;
  expect(old.prepare("PRAGMA user_version").get()).toEqual({ user_version: 4 });
  old.exec(`
    INSERT INTO queues VALUES (1, 'kueue', 'ClusterQueue', 'research', 'h100', 'a', ${start / day});
    INSERT INTO queue_time VALUES (0, ${start / hour}, 1, 1800, 1800, 5400, 7200, 0, 1800, 0, 3600);
    INSERT INTO intervals (begins, ends, seconds, gap) VALUES (${start}, ${start + 1800}, 1800, NULL)`);
  old.close();
  lock.release();

  const ledger = await openLedger(file);
  const capacity = { domains: [domainTime()] };
  ledger.append(entry({ from: start + 1800, queueTimes: [queueTime()], capacity, nodeStreaks: [nodeStreak()] }));
  await ledger.flush();
  expect(ledger.problems()).toEqual([]);
  const reader = createLedgerReader(file);
  expect(await reader.queryLedgerTable(question("queues", { groupBy: ["queue"] }))).toMatchObject({
    answer: { rows: [{ amounts: { allocated: 10_800, seconds: 3600, guaranteed: 7200, guaranteedSeconds: 1800 } }] },
  });
  expect(await reader.queryLedgerTable(question("domains"))).toMatchObject({
    answer: { totals: { capacity: 18_000 } },
  });
  expect(await reader.queryPools({ from: start, to: start + day })).toMatchObject({
    ok: true,
    answer: { domains: [] },
  });
  await reader.close();
  const copy = `${file}.copy`;
  expect(backupLedger(file, copy)).toBeNull();
  for (const path of [file, copy]) {
    const db = new DatabaseSync(path, { readOnly: true });
    expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: ledgerVersion });
    expect(rowsOf(db)).toEqual([["n1", 0, null]]);
    expect(checkLedger(db).wrong).toEqual([]);
    db.close();
  }
});
