import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readWorkloadProgress } from "../../../exporter/accounts/ledger/workloadProgress.ts";

const db = new DatabaseSync(":memory:");

beforeAll(() => {
  db.exec("CREATE TABLE remembered (kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL)");
  const put = db.prepare("INSERT INTO remembered VALUES (?, ?, ?)");
  const row = (name: string, uid: string, seenAt: number, madeUnits: number, costs: readonly unknown[]): void => {
    put.run("progress", JSON.stringify(["Job", "ads", name, uid]), JSON.stringify({ seenAt, madeUnits, costs }));
  };
  row("train", "1", 100, 4, [["USD", 1000]]);
  row("train", "2", 200, 8, [
    ["USD", 64],
    ["EUR", 4],
  ]);
  row("idle", "1", 200, 0, [["USD", 64]]);
  row("unpriced", "1", 200, 3, []);
  put.run("progress", "not JSON", "{}");
  put.run(
    "habit",
    JSON.stringify(["Job", "ads", "other", "1"]),
    JSON.stringify({ seenAt: 1, madeUnits: 1, costs: [] }),
  );
});

afterAll(() => db.close());

describe("the progress that a ledger remembers", () => {
  const of = (name: string, kind = "Job") => readWorkloadProgress(db)({ kind, namespace: "ads", name });

  test("is of the workload of that name that was there last, in each currency: 64 / 8 and 4 / 8", () => {
    expect(of("train")).toEqual({ madeUnits: 8, costPerUnit: { USD: 8, EUR: 0.5 } });
  });

  test("without a price has units alone", () => {
    expect(of("unpriced")).toEqual({ madeUnits: 3, costPerUnit: {} });
  });

  test("is not known of what has made nothing, says nothing, or is of another kind", () => {
    for (const found of [of("idle"), of("nobody"), of("other"), of("train", "RayJob")]) expect(found).toBeNull();
  });
});
