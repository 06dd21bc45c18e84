import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { queryStarts } from "../../../exporter/accounts/ledger/queryStarts.ts";
import { createStartAccount } from "../../../exporter/accounts/startAccount.ts";
import type { PastStart } from "../../../exporter/analysis/startTimes/startTimes.ts";
import type { ReviewAccounts } from "../../../review/build/source.ts";
import { askStartTimes, sortedStarts } from "../../../review/build/startTimes.ts";

const hour = 3600;

/** A ledger that remembers these starts. */
function ledgerOf(starts: readonly PastStart[]): DatabaseSync {
  const db = new DatabaseSync(":memory:");
  db.exec(
    "CREATE TABLE remembered (kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, key))",
  );
  const account = createStartAccount([]);
  account.add(starts);
  const insert = db.prepare("INSERT INTO remembered VALUES (?, ?, ?)");
  for (const { kind, key, value } of account.takeChanges()) insert.run(kind, key, value);
  insert.run("usage", "0", "[]");
  return db;
}

const starts = Array.from({ length: 250 }, (_, i): PastStart => {
  const since = i * hour;
  const startedAt = since + 1200 + ((i * 7) % 60) * 60;
  const [queue, gpus] = i % 3 === 0 ? (["serve", 8] as const) : (["train", 1] as const);
  return { queue, domain: queue, since, startedAt, gpus, priority: 0 };
});

async function rowsOf(past: readonly PastStart[], from: number, to: number) {
  const db = ledgerOf(past);
  const accounts: Pick<ReviewAccounts, "queryStarts"> = { queryStarts: async (query) => queryStarts(db, query) };
  const asked = await askStartTimes(accounts, { cluster: "harbor", days: { kind: "span", label: "", from, to } });
  if (!asked.ok) throw new Error(asked.error);
  return asked.value;
}

describe("how often start times have held, in a review", () => {
  it("counts the starts of the window by queue and size, and in how many the start was in its interval", async () => {
    const rows = (await rowsOf(starts, 150 * hour, 250 * hour)) ?? [];
    expect(rows.map(({ queue, sizeClass }) => [queue, sizeClass])).toEqual([
      ["train", "1"],
      ["serve", "8"],
    ]);
    const begun = (large: boolean) =>
      starts.filter(
        ({ startedAt, gpus }) => startedAt >= 150 * hour && startedAt < 250 * hour && (gpus === 8) === large,
      ).length;
    expect(rows.map((row) => row.starts)).toEqual([begun(false), begun(true)]);
    for (const { starts: all, intervals, hits } of rows) {
      expect(intervals).toBe(all);
      expect(hits).toBeLessThanOrEqual(intervals);
      expect(hits).toBeGreaterThan(intervals / 2);
    }
  });

  it("does not know what starts after the window, and has no interval while the history is short", async () => {
    expect(await rowsOf(starts, 0, 10 * hour)).toEqual(await rowsOf(starts.slice(0, 12), 0, 10 * hour));
    const first = (await rowsOf(starts, 0, 10 * hour)) ?? [];
    expect(first.map(({ intervals }) => intervals)).toEqual([0, 0]);
  });

  it("says nothing where no start is remembered", async () => {
    expect(await rowsOf([], 0, 10 * hour)).toBeNull();
  });

  it("keeps the rows with the most starts", () => {
    const row = (queue: string, count: number) => ({
      ...{ cluster: "harbor", queue, sizeClass: "8", starts: count, intervals: 0, hits: 0 },
    });
    const many = Array.from({ length: 150 }, (_, i) => row(`q${i}`, i));
    expect(sortedStarts(many).map(({ starts: count }) => count)).toEqual(
      Array.from({ length: 100 }, (_, i) => 149 - i),
    );
  });
});
