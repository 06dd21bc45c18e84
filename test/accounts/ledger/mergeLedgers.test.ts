import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { coverageOf } from "../../../exporter/accounts/ledger/intervalLog.ts";
import { mergeLedgers } from "../../../exporter/accounts/ledger/mergeLedgers.ts";
import { ledgerVersion } from "../../../exporter/accounts/ledger/schema.ts";
import type { StoredAdvice } from "../../../exporter/model/storedAdvice.ts";
import { account, entry, nodeStreak, posting, seenEviction, start } from "./entries.ts";
import {
  answers,
  coveredHours,
  day,
  expectOneStreakAtATime,
  hours,
  ledgersOf,
  mergedOf,
  poolHours,
} from "./mergedLedger.ts";
import { readLedger, replicaEntries, type Uptime, writeLedger } from "./replicas.ts";
import { openLedger, temporaryFolder } from "./temporaryFolder.ts";

describe("the merged ledger of replicas", () => {
  test("has of each hour what the one with more coverage of it counted, and is one ledger for every order of them", () => {
    const lives: readonly Uptime[] = [
      Array.from({ length: hours }, (_, n) => (n >= 3 && n < 7 ? 0 : n === 12 ? 1800 : 3600)),
      Array.from({ length: hours }, (_, n) => (n >= 5 && n < 9 ? 0 : n === 12 ? 2400 : 3600)),
    ];
    const files = ledgersOf(...lives.map((uptime, view) => replicaEntries(uptime, view)));
    const target = mergedOf(files, "forth.db");
    const most = lives[0]?.map((seconds, n) => Math.max(seconds, lives[1]?.[n] ?? 0));
    expect(coveredHours(target)).toEqual(most);
    const [mine, theirs] = files.map(poolHours);
    for (const [key, seconds] of poolHours(target)) expect([mine?.get(key), theirs?.get(key)]).toContain(seconds);
    expectOneStreakAtATime(target);
    expect(answers(mergedOf(files.toReversed(), "back.db"))).toEqual(answers(target));
  });

  test("does not depend on it either where both covered the same", () => {
    const all: Uptime = Array.from({ length: hours }, () => 3600);
    const files = ledgersOf(replicaEntries(all, 0), replicaEntries(all, 1));
    const [mine, theirs] = files.map((file) => answers(file).byHour);
    const forth = answers(mergedOf(files, "forth.db"));
    expect(answers(mergedOf(files.toReversed(), "back.db"))).toEqual(forth);
    expect([mine, theirs]).toContainEqual(forth.byHour);
    expect(mine).not.toEqual(theirs);
  });
});

describe("what is kept by day", () => {
  const rows = (file: string) =>
    readLedger(file, (db) =>
      db
        .prepare("SELECT DISTINCT daily, hour / 24 - ? AS day FROM gpu_time ORDER BY day, daily")
        .all(start / day)
        .map((row) => [row.day, row.daily]),
    );

  test("a day that one of them has folded is taken whole from the one that covered more of it", () => {
    const folder = temporaryFolder();
    const [folded, hourly] = [path.join(folder, "folded.db"), path.join(folder, "hourly.db")];
    // Days 0 and 2 are better in the folded one, day 1 in the other; hour by hour each has some.
    const up = (days: readonly number[]): Uptime =>
      Array.from({ length: 72 }, (_, n) => (days.includes(Math.floor(n / 24)) === n % 24 < 10 ? 0 : 3600));
    writeLedger(folded, replicaEntries(up([0, 2]), 0), 1);
    writeLedger(hourly, replicaEntries(up([1]), 1));
    expect(rows(folded)).toEqual([
      [0, 1],
      [1, 1],
      [2, 0],
    ]);
    const target = mergedOf([folded, hourly]);
    expect(rows(target)).toEqual([
      [0, 1],
      [1, 0],
      [2, 0],
    ]);
    const byDay = (file: string) =>
      readLedger(file, (db) =>
        db
          .prepare(
            "SELECT hour / 24 AS day, sum(physical_gpu_seconds) AS s FROM pool_time WHERE pool = 'b200' GROUP BY 1 ORDER BY 1",
          )
          .all()
          .map((row) => row.s),
      );
    const [of, mine, theirs] = [target, folded, hourly].map(byDay);
    expect(of?.slice(0, 2)).toEqual([mine?.[0], theirs?.[1]]);
    // Day 2 is folded by nobody: one has ten hours of it, the other the rest.
    expect(of?.[2]).toBe(8 * day);
    for (const [n, expected] of [
      [0, 14 * 3600],
      [1, 14 * 3600],
      [2, day],
    ] as const)
      expect(readLedger(target, (db) => coverageOf(db, start + n * day, start + (n + 1) * day).coveredSeconds)).toBe(
        expected,
      );
  });
});

describe("what has a time of its own", () => {
  test("an eviction that both saw is there once, and one of hours that the other covers better is that one's", () => {
    const seen = (key: string, at: number) => seenEviction({ key, at });
    const [one, other] = ledgersOf(
      [entry({ to: start + 3600, evictions: [seen("both", start + 60), seen("late", start + 4000)] })],
      [
        entry({ to: start + 600, evictions: [seen("both", start + 60), seen("only-here", start + 70)] }),
        entry({ from: start + 3600, to: start + 7200 }),
      ],
    );
    const target = mergedOf([one ?? "", other ?? ""]);
    // `late` is in an hour that the second covered, and did not see it.
    expect(readLedger(target, (db) => db.prepare("SELECT key FROM evictions").all())).toEqual([{ key: "both" }]);
  });

  test("a failure that both saw is there once, too", () => {
    const names = { kind: "Job", namespace: "ads", name: "train", pod: "train-0", team: "ads", uid: "u" };
    const of = (key: string) => {
      const lost = { gpus: 8, lostGpuSeconds: 60, isUpperBound: true, error: "unknown" as const };
      return { key, at: start + 60, ...names, ...lost };
    };
    const ledgers = ledgersOf(
      [entry({ to: start + 3600, failures: [of("both"), of("first")] })],
      [entry({ to: start + 600, failures: [of("both")] })],
    );
    const keys = readLedger(mergedOf(ledgers), (db) => db.prepare("SELECT key FROM failures ORDER BY key").all());
    expect(keys).toEqual([{ key: "both" }, { key: "first" }]);
  });

  test("a streak that both saw is one, from its begin in the first to its end in the second", () => {
    const streak = (begins: number, ends: number | null) => [nodeStreak({ node: "n", begins, ends })];
    const [one, other] = ledgersOf(
      [entry({ to: start + 7200, nodeStreaks: streak(start + 10, null) })],
      [
        entry({ to: start + 600 }),
        entry({ from: start + 7200, to: start + 5 * 3600, nodeStreaks: streak(start + 20, start + 4 * 3600) }),
      ],
    );
    const target = mergedOf([one ?? "", other ?? ""]);
    const found = readLedger(target, (db) => db.prepare("SELECT begins, ends, state FROM node_streaks").all());
    expect(found).toEqual([{ begins: start + 10, ends: start + 4 * 3600, state: "cordoned" }]);
  });

  test("advice that both gave is that of the one which saw more of it, and its end", () => {
    const advice = (firstSeenAt: number, closedAt: number | null) => [
      storedAdvice({ id: "same", firstSeenAt, closedAt, state: closedAt === null ? "open" : "taken" }),
    ];
    const only = [storedAdvice({ id: "early", firstSeenAt: start + 60, closedAt: start + 600, state: "expired" })];
    const [one, other] = ledgersOf(
      [{ ...entry({ to: start + 7200 }), advice: [...advice(start + 7000, null), ...only] }],
      [
        {
          ...entry({ from: start + 7200, to: start + 6 * 3600, postings: [] }),
          advice: advice(start + 7210, start + 9000),
        },
      ],
    );
    const target = mergedOf([one ?? "", other ?? ""]);
    const sql = "SELECT id, first_seen, closed FROM recommendations ORDER BY id";
    expect(readLedger(target, (db) => db.prepare(sql).all())).toEqual([
      { id: "early", first_seen: start + 60, closed: start + 600 },
      { id: "same", first_seen: start + 7210, closed: start + 9000 },
    ]);
  });

  test("a price that both used was used once, from the first use to now", () => {
    const prices = (since: number) => ({
      since,
      prices: [
        {
          pool: "h100",
          nodePool: "gpu",
          instanceType: null,
          capacityType: "spot" as const,
          currency: "USD",
          basis: "whole-instance" as const,
          source: "file" as const,
          dated: null,
          perGpuHour: 2,
        },
      ],
    });
    const [one, other] = ledgersOf(
      [entry({ to: start + 7200, prices: prices(start) })],
      [entry({ from: start + 7100, to: start + 6 * 3600, prices: prices(start + 7100) })],
    );
    const target = mergedOf([one ?? "", other ?? ""]);
    const found = readLedger(target, (db) => db.prepare("SELECT begins, ends FROM price_log").all());
    expect(found).toEqual([{ begins: start, ends: null }]);
  });

  test("a streak that lasts in a ledger which ended does not last on", () => {
    const streak = (node: string) => [nodeStreak({ node, begins: start })];
    const [one, other] = ledgersOf(
      [entry({ to: start + 7200, nodeStreaks: streak("n") })],
      [entry({ from: start + 5 * 3600, to: start + 6 * 3600, nodeStreaks: [] })],
    );
    const target = mergedOf([one ?? "", other ?? ""]);
    expect(readLedger(target, (db) => db.prepare("SELECT ends FROM node_streaks").all())).toEqual([
      { ends: start + 7200 },
    ]);
  });
});

/** Advice about which nothing matters but when it was given. */
function storedAdvice(values: Pick<StoredAdvice, "id" | "firstSeenAt" | "closedAt" | "state">): StoredAdvice {
  return {
    kind: "release_idle",
    title: "",
    fromTeam: "",
    forTeam: "",
    queue: "",
    pool: "",
    gainedGpusWorst: 1,
    gainedGpusBest: 1,
    lostGpuHours: 0,
    measuredGpus: null,
    measuredLostGpuHours: null,
    record: "{}",
    ...values,
  };
}

describe("what is not merged", () => {
  const problemOf = (files: readonly string[], target: string) => {
    const result = mergeLedgers(files, target);
    return result.ok ? null : result.problem;
  };

  test("into a file that is there", () => {
    const [file = ""] = ledgersOf([entry()]);
    const before = readFileSync(file);
    expect(problemOf([file, file], file)).toMatchObject({ code: "ledger-merge-exists" });
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(problemOf([file, file], path.join(file, "..", "no", "ledger.db"))).toMatchObject({
      code: "ledger-merge-folder",
    });
  });

  test("a newer ledger, no ledger, a damaged one, or one of another cluster; and nothing is left behind", () => {
    const h100 = [entry({ to: start + 3600 })];
    const l4 = [entry({ to: start + 3600, postings: [posting({ account: account({ pool: "l4" }) })] })];
    const [file = "", stranger = ""] = ledgersOf(h100, l4);
    const folder = path.dirname(file);
    const [newer, text, damaged] = ["newer", "text", "damaged"].map((name) => path.join(folder, `${name}.db`));
    copyFileSync(file, newer ?? "");
    const db = new DatabaseSync(newer ?? "");
    db.exec(`PRAGMA user_version = ${ledgerVersion + 1}`);
    db.close();
    writeFileSync(text ?? "", "no ledger at all, but some words\n".repeat(20));
    const bytes = readFileSync(file);
    bytes.fill(0xa5, 2 * 8192);
    writeFileSync(damaged ?? "", bytes);
    const before = readdirSync(folder).sort();
    const target = path.join(folder, "merged.db");
    const codes = [newer, text, damaged, stranger, path.join(folder, "none.db")].map(
      (other) => problemOf([file, other ?? ""], target)?.code,
    );
    expect(codes).toEqual([
      "ledger-newer-version",
      "ledger-not-sqlite",
      "ledger-corrupt",
      "ledger-merge-clusters",
      "ledger-missing",
    ]);
    expect(
      problemOf(
        Array.from({ length: 9 }, () => file),
        target,
      ),
    ).toMatchObject({ code: "ledger-merge-many" });
    expect(readdirSync(folder).sort()).toEqual(before);
  });

  test("but an older ledger is, from a copy, and stays what it is", () => {
    const [file = ""] = ledgersOf([entry({ from: start + 7200, postings: [posting({ hour: start + 7200 })] })]);
    const old = path.join(path.dirname(file), "old.db");
    const db = new DatabaseSync(old);
    db.exec(readFileSync(fileURLToPath(new URL("version1.sql", import.meta.url)), "utf8"));
    db.close();
    const before = readFileSync(old);
    const target = mergedOf([old, file]);
    expect(readFileSync(old).equals(before)).toBe(true);
    expect(readLedger(target, (one) => one.prepare("SELECT sum(gpu_seconds) AS s FROM gpu_time").get())).toEqual({
      s: 60,
    });
    expect(existsSync(`${target}.source-0`)).toBe(false);
  });
});

test("ledgers that are being written are merged as they are at that moment", async () => {
  const folder = temporaryFolder();
  const files = [path.join(folder, "one.db"), path.join(folder, "other.db")];
  for (const [i, file] of files.entries()) {
    const ledger = await openLedger(file);
    for (const one of replicaEntries([i === 0 ? 3600 : 0, 3600], i)) ledger.append(one);
    await ledger.flush();
    expect(existsSync(`${file}-wal`)).toBe(true);
  }
  expect(coveredHours(mergedOf(files)).slice(0, 2)).toEqual([3600, 3600]);
});
