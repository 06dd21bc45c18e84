import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { pastStartAt, playPast } from "../../../../cli/demo/past/playPast.ts";
import { packedPast, type UnpackedPast, unpackPast } from "../../../../cli/demo/past/unpackPast.ts";
import { demoStartAt } from "../../../../cli/demo/startDemo.ts";
import { ledgerApplicationId, ledgerVersion } from "../../../../exporter/accounts/ledger/schema.ts";
import { startKind } from "../../../../exporter/accounts/startAccount.ts";

const hours = 4;
const again =
  "The demo's past is not what the exporter counts now: run `npm run past`, and commit the file that it writes.";

let past: UnpackedPast;
let folder: string;
let shipped: DatabaseSync;
let played: DatabaseSync;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "fairlead-past-test-"));
  past = unpackPast();
  // A ledger that is being written is read here as one file.
  copyFileSync(past.ledgerPath, join(folder, "shipped.db"));
  shipped = new DatabaseSync(join(folder, "shipped.db"), { readOnly: true });
  const ledgerPath = join(folder, "played.db");
  await playPast({ to: pastStartAt + hours * 3600, ledgerPath });
  played = new DatabaseSync(ledgerPath);
});
afterAll(() => {
  shipped.close();
  played.close();
  past.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** A table that is kept by the hour, and the table that says in words what the number in one of its columns stands for. */
interface Hourly {
  readonly table: string;
  readonly named: { readonly column: string; readonly by: string } | null;
}

const hourly: readonly Hourly[] = [
  { table: "gpu_time", named: { column: "account", by: "accounts" } },
  { table: "node_time", named: { column: "node_group", by: "node_groups" } },
  { table: "queue_time", named: { column: "queue", by: "queues" } },
  { table: "pool_time", named: null },
  { table: "domain_time", named: null },
  { table: "placement_time", named: null },
];

/** The rows of the first hours, as text; numbers of rows are replaced by what they stand for. */
function rowsOf(db: DatabaseSync, { table, named }: Hourly): readonly string[] {
  const from = pastStartAt / 3600;
  const names = named === null ? "" : ", d.*";
  const joined = named === null ? "" : `JOIN ${named.by} AS d ON d.id = t.${named.column}`;
  return db
    .prepare(`SELECT t.*${names} FROM ${table} AS t ${joined} WHERE t.hour BETWEEN ? AND ?`)
    .all(from, from + hours - 1)
    .map(({ id: _, last_day: __, account: ___, node_group: ____, ...rest }) => JSON.stringify(rest))
    .sort();
}

it.each(hourly)("the first hours of $table are what the exporter counts now, to the last bit", (one) => {
  const expected = rowsOf(played, one);
  expect(expected.length).toBeGreaterThan(hours);
  expect(rowsOf(shipped, one), again).toEqual(expected);
});

it("the file has the version that this Fairlead writes", () => {
  expect(shipped.prepare("PRAGMA user_version").get(), again).toEqual({ user_version: ledgerVersion });
  expect(shipped.prepare("PRAGMA application_id").get()).toEqual({ application_id: ledgerApplicationId });
  const schema = "SELECT type, name, sql FROM sqlite_master ORDER BY type, name";
  expect(shipped.prepare(schema).all(), again).toEqual(played.prepare(schema).all());
});

it("the past ends, without a gap, where the demo begins", () => {
  expect(shipped.prepare("SELECT begins, ends, gap FROM intervals").all()).toEqual([
    { begins: pastStartAt, ends: demoStartAt, gap: null },
  ]);
  expect(shipped.prepare("SELECT DISTINCT kind FROM remembered").all()).toEqual([{ kind: startKind }]);
});

it("the file is small, and what is unpacked can be removed", () => {
  expect(statSync(packedPast).size).toBeLessThan(2_000_000);
  const other = unpackPast();
  expect(other.ledgerPath).not.toBe(past.ledgerPath);
  other.remove();
  expect(existsSync(other.ledgerPath)).toBe(false);
});
