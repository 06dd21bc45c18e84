import type { DatabaseSync } from "node:sqlite";
import type { PricesInUse, UsedPrice } from "../posting.ts";
import { numberIn } from "./sqliteRow.ts";

/** The record of which prices were used from when to when, so that every cost can be explained. */
export interface PriceLog {
  /** From `since` on these are used and no others: what was used and is not among them ends there, what is new begins. */
  write(inUse: PricesInUse): void;
}

/** What says two prices apart. Their date does not: a source that asks again says the same price with a later one. */
const identity = [
  "pool",
  "node_pool",
  "instance_type",
  "capacity_type",
  "currency",
  "basis",
  "source",
  "per_gpu_hour",
] as const;

/** Creates the log of an open ledger. It remembers nothing, so that a transaction may be rolled back under it. */
export function createPriceLog(db: DatabaseSync): PriceLog {
  const open = db.prepare(`SELECT id, begins, ${identity.join(", ")} FROM price_log WHERE ends IS NULL`);
  const end = db.prepare("UPDATE price_log SET ends = ? WHERE id = ?");
  const insert = db.prepare(
    `INSERT INTO price_log (${identity.join(", ")}, dated, begins) VALUES (${identity.map(() => "?").join(", ")}, ?, ?)`,
  );

  return {
    write({ since, prices }) {
      const added = new Map(prices.map((price) => [JSON.stringify(identityOf(price)), price] as const));
      for (const row of open.all()) {
        const isStillUsed = added.delete(JSON.stringify(identity.map((column) => row[column])));
        // A clock may have been set back: nothing ends before it began.
        if (!isStillUsed) end.run(Math.max(since, numberIn(row, "begins")), numberIn(row, "id"));
      }
      for (const price of added.values()) insert.run(...identityOf(price), price.dated, since);
    },
  };
}

/** In the order of `identity`. */
function identityOf(price: UsedPrice): readonly (string | number | null)[] {
  const { pool, nodePool, instanceType, capacityType, currency, basis, source, perGpuHour } = price;
  return [pool, nodePool, instanceType, capacityType, currency, basis, source, perGpuHour];
}
