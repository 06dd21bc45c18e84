import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { SeenFailure } from "../../../exporter/accounts/failureAccount.ts";
import { mergeEntries } from "../../../exporter/accounts/ledger/mergeEntries.ts";
import { migrate } from "../../../exporter/accounts/ledger/openForWriting.ts";
import { packEntry } from "../../../exporter/accounts/ledger/packedEntry.ts";
import { queryLedgerTable } from "../../../exporter/accounts/ledger/queryLedgerTable.ts";
import { createRetention } from "../../../exporter/accounts/ledger/retention.ts";
import { ledgerMigrations } from "../../../exporter/accounts/ledger/schema.ts";
import { entry, start } from "./entries.ts";
import { ledgerOf, question } from "./memoryLedger.ts";

function failure(parts: Partial<SeenFailure> = {}): SeenFailure {
  const names = { kind: "Job", namespace: "ads", name: "train", pod: "train-0", team: "ads" };
  return {
    ...{ key: "u/1", uid: "u", ...names, at: start + 10, gpus: 8 },
    ...{ isUpperBound: true, lostGpuSeconds: 28_800, error: "unknown" as const, ...parts },
  };
}

function ask(db: DatabaseSync, groupBy: readonly string[], where: ReadonlyMap<string, readonly string[]> = new Map()) {
  const result = queryLedgerTable(db, question("failures", { groupBy, where }));
  if (!result.ok) throw new Error(result.error);
  return result.answer;
}

describe("failures of programs in the ledger", () => {
  const again = failure({
    key: "u/2",
    at: start + 40,
    lostGpuSeconds: 240,
    isUpperBound: false,
    error: "memory_fault",
  });
  const db = ledgerOf([
    entry({ failures: [failure(), failure({ key: "v/1", team: "maps", gpus: null, lostGpuSeconds: null })] }),
    // Another process reports the first once more.
    entry({ from: start + 30, failures: [failure(), again] }),
  ]);

  test("are added up by team and error, each once, with how much of it is an upper bound or not known", () => {
    expect(ask(db, ["team", "error"]).rows).toEqual([
      {
        values: ["ads", "memory_fault"],
        amounts: { failures: 1, gpus: 8, lostGpuSeconds: 240, upperBoundGpuSeconds: 0, unknownLost: 0 },
      },
      {
        values: ["ads", "unknown"],
        amounts: { failures: 1, gpus: 8, lostGpuSeconds: 28_800, upperBoundGpuSeconds: 28_800, unknownLost: 0 },
      },
      {
        values: ["maps", "unknown"],
        amounts: { failures: 1, gpus: null, lostGpuSeconds: null, upperBoundGpuSeconds: 0, unknownLost: 1 },
      },
    ]);
  });

  test("can be asked for one pod of a workload", () => {
    const where = new Map([["workload", ["Job/ads/train"]]]);
    expect(ask(db, ["workload", "pod"], where).totals).toMatchObject({ failures: 3, lostGpuSeconds: 29_040 });
  });

  test("are each once when entries wait and are written as one", () => {
    const merged = mergeEntries(
      packEntry(entry({ failures: [failure()] })),
      packEntry(entry({ from: start + 30, failures: [failure(), again] })),
    );
    expect(merged.queues.failures.map(({ key }) => key)).toEqual(["u/1", "u/2"]);
  });

  test("are forgotten with the days in which they were", () => {
    const late = start + 12 * 86_400;
    const later = ledgerOf([
      entry({ failures: [failure()] }),
      entry({ from: late, to: late + 7200, failures: [failure({ key: "late", at: late })] }),
    ]);
    const retention = createRetention(later, { hourlyDays: 5, dailyDays: 10, workloadDays: 10 });
    while (retention.slice());
    expect(later.prepare("SELECT key FROM failures").all()).toEqual([{ key: "late" }]);
  });

  test("begin with version 10: a ledger of version 9 has none, and loses nothing", () => {
    const old = new DatabaseSync(":memory:");
    migrate(old, ledgerMigrations.slice(0, 9));
    old.exec("INSERT INTO pool_time VALUES (0, 1, 'h100', 240)");
    migrate(old, ledgerMigrations);
    expect(ask(old, ["team"]).totalRows).toBe(0);
    expect(old.prepare("SELECT physical_gpu_seconds FROM pool_time").get()).toEqual({ physical_gpu_seconds: 240 });
  });
});
