import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { migrate } from "../../../exporter/accounts/ledger/openForWriting.ts";
import { ledgerApplicationId, ledgerMigrations } from "../../../exporter/accounts/ledger/schema.ts";

const namesBefore = 7;

test("a ledger of version 7 says allocated, idle and underutilized afterwards, and loses no amount", () => {
  const db = new DatabaseSync(":memory:");
  db.exec(`PRAGMA application_id = ${ledgerApplicationId}`);
  migrate(db, ledgerMigrations.slice(0, namesBefore));
  db.exec(`
    INSERT INTO accounts (id, pool, node_pool, state, last_day) VALUES
      (1, 'h100', '', 'held_idle', 1), (2, 'h100', '', 'underused', 1), (3, 'h100', '', 'active', 1);
    INSERT INTO node_groups (id, pool, node_pool, state, last_day) VALUES
      (1, 'h100', '', 'idle_held', 1), (2, 'h100', '', 'warm_held', 1), (3, 'h100', '', 'idle_unallocated', 1);
    INSERT INTO node_streaks VALUES ('n1', 0, NULL, '', 'h100', 'idle_held', 8);
    INSERT INTO queue_time (daily, hour, queue, seconds, judged_seconds, held_gpu_seconds, entitled_gpu_seconds,
      excess_gpu_seconds, short_by_others_gpu_seconds, short_by_idle_gap_gpu_seconds, pending_gpu_seconds, judged_held_gpu_seconds)
    VALUES (0, 1, 1, 60, 60, 480, 0, 0, 0, 0, 0, 240);
    INSERT INTO domain_time VALUES (1, 'h100', 60, 960, 480, 0, 0, NULL);
    INSERT INTO remembered VALUES ('held', 'uid', '='), ('active-unheld', 'GPU-1', '5'), ('idle', 'GPU-2', '7'),
      ('usage', 'slot', '{"held":[["q","h100",5]],"capacity":[]}'),
      ('idle-node', 'held/n1', '3'), ('streak', 'n1', '["idle_held",0,"","h100",8,true]');
    INSERT INTO recommendations VALUES ('a', 1, 'release_idle', 'open', NULL, 't', '', '', '', '', 0, 0, 0, NULL, NULL,
      '{"before":{"heldIdleGpus":4}}')`);
  migrate(db, ledgerMigrations);
  const column = (sql: string) =>
    db
      .prepare(sql)
      .all()
      .map((row) => Object.values(row)[0]);
  expect(column("SELECT state FROM accounts ORDER BY id")).toEqual(["idle", "underutilized", "active"]);
  expect(column("SELECT state FROM node_groups ORDER BY id")).toEqual([
    "idle_allocated",
    "warm_allocated",
    "idle_unallocated",
  ]);
  expect(column("SELECT state FROM node_streaks")).toEqual(["idle_allocated"]);
  expect(column("SELECT allocated_gpu_seconds + judged_allocated_gpu_seconds FROM queue_time")).toEqual([720]);
  expect(column("SELECT allocated_gpu_seconds FROM domain_time")).toEqual([480]);
  expect(column("SELECT kind FROM remembered ORDER BY kind")).toEqual([
    "active-unallocated",
    "allocated",
    "idle",
    "idle-node",
    "streak",
    "usage",
  ]);
  expect(column("SELECT key FROM remembered WHERE kind = 'idle-node'")).toEqual(["allocated/n1"]);
  expect(column("SELECT value FROM remembered WHERE kind = 'streak'")).toEqual([
    '["idle_allocated",0,"","h100",8,true]',
  ]);
  expect(column("SELECT value FROM remembered WHERE kind = 'usage'")).toEqual([
    '{"allocated":[["q","h100",5]],"capacity":[]}',
  ]);
  expect(column("SELECT record FROM recommendations")).toEqual(['{"before":{"idleGpus":4}}']);
  db.close();
});
