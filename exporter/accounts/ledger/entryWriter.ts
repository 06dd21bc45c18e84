import type { DatabaseSync } from "node:sqlite";
import type { PricesInUse, UsedPrice } from "../posting.ts";
import { createAdviceWriter } from "./adviceWriter.ts";
import { createCapacityWriter } from "./capacityWriter.ts";
import { createDimensionIds } from "./dimensionIds.ts";
import { createShapeWriter } from "./endedShapes.ts";
import { createIntervalLog } from "./intervalLog.ts";
import { accountParts, noWorkload, type PackedEntry, type PackedRows, workloadParts } from "./packedEntry.ts";
import { createQueueWriter } from "./queueWriter.ts";
import { createRowSums } from "./rowSums.ts";
import { hoursPerDay, secondsPerHour } from "./schema.ts";
import { numberIn, numberOrNullIn } from "./sqliteRow.ts";
import { addRowSql, placesFor } from "./tables.ts";
import { inTransaction } from "./transaction.ts";
import { tuples } from "./tupleList.ts";
import { createWithheldWriter } from "./withheld.ts";

/** Adds entries to the accounts, each in one transaction. */
export interface EntryWriter {
  /** The number of the last entry that is in the file. */
  lastEntry(): number;
  /** Writes an entry, or throws and writes nothing. An entry whose number is already in the file is not added again. */
  write(number: number, entry: PackedEntry): void;
}

/** Creates the writer of an open ledger. Only one may exist for a file. */
export function createEntryWriter(db: DatabaseSync): EntryWriter {
  const progress = db.prepare("SELECT entry FROM progress");
  const setProgress = db.prepare("UPDATE progress SET entry = ?");
  const intervals = createIntervalLog(db);
  const postings = createPostingWriter(db);
  const others = createOtherWriter(db);
  const queues = createQueueWriter(db);
  const capacity = createCapacityWriter(db);
  const prices = createPriceLog(db);
  const shapes = createShapeWriter(db);
  const advice = createAdviceWriter(db);
  const withheld = createWithheldWriter(db);

  function lastEntry(): number {
    return numberOrNullIn(progress.get(), "entry") ?? 0;
  }

  return {
    lastEntry,
    write(number, entry) {
      try {
        inTransaction(db, () => {
          if (lastEntry() >= number) return;
          for (const interval of entry.intervals) intervals.add(interval);
          postings.write(entry);
          others.write(entry);
          queues.write(entry);
          capacity.write(entry);
          shapes.write(entry);
          advice.write(entry.advice);
          withheld.write(entry.withheld);
          for (const inUse of entry.prices) prices.write(inUse);
          setProgress.run(number);
        });
      } catch (error) {
        postings.forget();
        others.forget();
        queues.forget();
        capacity.forget();
        shapes.forget();
        throw error;
      }
    },
  };
}

/** The record of the prices that were used and the time of their use, so that every cost can be explained. */
interface PriceLog {
  /**
   * Records that exactly these prices are used from `since` on: a price that is no longer among them ends there, and a new one
   * begins.
   */
  write(inUse: PricesInUse): void;
}

/**
 * The columns that distinguish two prices. Their date is not among them, because a source that asks again reports the same
 * price with a later date.
 */
const priceIdentity = [
  "pool",
  "node_pool",
  "instance_type",
  "capacity_type",
  "currency",
  "basis",
  "source",
  "per_gpu_hour",
] as const;

/** Creates the log of an open ledger. It keeps nothing in memory, so that a transaction may be rolled back without harm. */
function createPriceLog(db: DatabaseSync): PriceLog {
  const open = db.prepare(`SELECT id, begins, ${priceIdentity.join(", ")} FROM price_log WHERE ends IS NULL`);
  const end = db.prepare("UPDATE price_log SET ends = ? WHERE id = ?");
  const insert = db.prepare(
    `INSERT INTO price_log (${priceIdentity.join(", ")}, dated, begins) VALUES (${placesFor(priceIdentity)}, ?, ?)`,
  );

  return {
    write({ since, prices }) {
      const added = new Map(prices.map((price) => [JSON.stringify(identityOf(price)), price] as const));
      for (const row of open.all()) {
        const isStillUsed = added.delete(JSON.stringify(priceIdentity.map((column) => row[column])));
        // If the clock was set back, a price must not end before it began.
        if (!isStillUsed) end.run(Math.max(since, numberIn(row, "begins")), numberIn(row, "id"));
      }
      for (const price of added.values()) insert.run(...identityOf(price), price.dated, since);
    },
  };
}

/** The values of a price in the order of `priceIdentity`. */
function identityOf(price: UsedPrice): readonly (string | number | null)[] {
  const { pool, nodePool, instanceType, capacityType, currency, basis, source, perGpuHour } = price;
  return [pool, nodePool, instanceType, capacityType, currency, basis, source, perGpuHour];
}

/** Writes one kind of rows; `forget` drops the ids that a rolled back transaction has made. */
interface PartWriter {
  write(entry: PackedEntry): void;
  forget(): void;
}

function createPostingWriter(db: DatabaseSync): PartWriter {
  const accountIds = createDimensionIds(db, "accounts");
  const workloadIds = createDimensionIds(db, "workloads");
  const addGpuTime = db.prepare(addRowSql("gpu_time"));
  const addWorkloadTime = db.prepare(addRowSql("workload_time"));

  return {
    write(entry) {
      const { rows } = entry;
      const accounts = tuples(entry.accounts, accountParts);
      const workloads = tuples(entry.workloads, workloadParts);
      const account = (sums: PackedRows, i: number, day: number): number =>
        accountIds.idOf(accounts[sums.account[i] ?? 0] ?? [], day);
      const [hourly, daily] = sumRows(rows);
      for (let i = 0; i < hourly.hour.length; i += 1) {
        const hour = hourly.hour[i] ?? 0;
        addGpuTime.run(hour, account(hourly, i, Math.floor(hour / hoursPerDay)), ...sumsOf(hourly, i));
      }
      for (let i = 0; i < daily.hour.length; i += 1) {
        const day = daily.hour[i] ?? 0;
        const workload = workloadIds.idOf(workloads[daily.workload[i] ?? 0] ?? [], day);
        addWorkloadTime.run(day, workload, account(daily, i, day), ...sumsOf(daily, i));
      }
    },
    forget() {
      accountIds.reload();
      workloadIds.reload();
    },
  };
}

/** Adds postings up in two ways: by hour and account, and by day, workload and account. */
function sumRows(rows: PackedRows): readonly [PackedRows, PackedRows] {
  const hourly = createRowSums(rows.hour.length);
  const daily = createRowSums(rows.hour.length);
  for (let i = 0; i < rows.hour.length; i += 1) {
    const hour = rows.hour[i] ?? 0;
    const account = rows.account[i] ?? 0;
    const workload = rows.workload[i] ?? noWorkload;
    hourly.add(hour, account, noWorkload, rows, i);
    if (workload !== noWorkload) daily.add(Math.floor(hour / hoursPerDay), account, workload, rows, i);
  }
  return [hourly.rows(), daily.rows()];
}

function sumsOf(rows: PackedRows, i: number): readonly [number, number, number, number | null, number | null] {
  return [
    rows.gpuSeconds[i] ?? 0,
    rows.estimated[i] ?? 0,
    rows.unmetered[i] ?? 0,
    knownOrNull(rows.energy[i]),
    knownOrNull(rows.cost[i]),
  ];
}

function knownOrNull(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}

/** Creates the writer of control sums, node times, time by cause, served work, and what is remembered. */
function createOtherWriter(db: DatabaseSync): PartWriter {
  const groupIds = createDimensionIds(db, "node_groups");
  const healthIds = createDimensionIds(db, "health_groups");
  const addHealthTime = db.prepare(addRowSql("health_time"));
  const servedIds = createDimensionIds(db, "served_groups");
  const addServedTime = db.prepare(addRowSql("served_time"));
  const addPoolTime = db.prepare(addRowSql("pool_time"));
  const addNodeTime = db.prepare(addRowSql("node_time"));
  const remember = db.prepare(
    "INSERT INTO remembered (kind, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
  );
  const forget = db.prepare("DELETE FROM remembered WHERE kind = ? AND key = ?");

  return {
    write(entry) {
      for (const row of entry.poolHours) addPoolTime.run(row.hour / secondsPerHour, row.pool, row.physicalGpuSeconds);
      for (const row of entry.nodeTimes) {
        const hour = row.hour / secondsPerHour;
        const group = groupIds.idOf(
          [row.pool, row.nodePool, row.capacityType, row.state, row.currency],
          Math.floor(hour / hoursPerDay),
        );
        addNodeTime.run(hour, group, row.nodeSeconds, row.cost);
      }
      for (const row of entry.healthTimes) {
        const hour = row.hour / secondsPerHour;
        const group = healthIds.idOf(
          [row.pool, row.nodePool, row.team, row.cause, row.currency],
          Math.floor(hour / hoursPerDay),
        );
        addHealthTime.run(hour, group, row.gpuSeconds, row.cost);
      }
      for (const row of entry.servedTimes) {
        const group = servedIds.idOf([row.kind, row.namespace, row.name, row.team, row.currency], row.day);
        const { requests, promptTokens, generatedTokens, gpuSeconds, uncountedGpuSeconds, cost } = row;
        addServedTime.run(
          row.day,
          group,
          requests,
          promptTokens,
          generatedTokens,
          gpuSeconds,
          uncountedGpuSeconds,
          cost,
        );
      }
      for (const [kind = null, key = null, value = null] of tuples(entry.remembered, 3)) {
        if (value === null) forget.run(kind, key);
        else remember.run(kind, key, value);
      }
    },
    forget() {
      groupIds.reload();
      healthIds.reload();
      servedIds.reload();
    },
  };
}
