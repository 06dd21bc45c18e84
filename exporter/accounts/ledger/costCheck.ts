import type { DatabaseSync } from "node:sqlite";
import { isoTime } from "../../kernel/isoTime.ts";
import { secondsPerHour } from "./schema.ts";
import { numberIn, textIn } from "./sqliteRow.ts";

/** What is wrong with the costs of a ledger, in sentences; at most `most` of each kind. */
export function wrongCosts(db: DatabaseSync, tolerance: number, most: number): readonly string[] {
  return [...costsWithoutCurrency(db), ...openCosts(db, tolerance, most)];
}

/** A sum has a cost exactly where its account or node group has a currency. */
function costsWithoutCurrency(db: DatabaseSync): readonly string[] {
  const links = [
    ["gpu_time", "account", "accounts"],
    ["workload_time", "account", "accounts"],
    ["node_time", "node_group", "node_groups"],
  ] as const;
  return links.flatMap(([table, column, dimension]) => {
    const row = db
      .prepare(
        `SELECT count(*) AS n FROM ${table} t JOIN ${dimension} d ON d.id = t.${column}
         WHERE (t.cost IS NULL) <> (d.currency IS NULL) OR t.cost < 0`,
      )
      .get();
    const rows = row === undefined ? 0 : numberIn(row, "n");
    return rows === 0
      ? []
      : [`${rows} rows of ${table} have a cost without a currency, none with one, or less than nothing`];
  });
}

/** Node pools and hours in which what is counted does not cost what their nodes cost; where only one of both is kept, none. */
function openCosts(db: DatabaseSync, tolerance: number, most: number): readonly string[] {
  return db
    .prepare(
      `WITH counted AS (
         SELECT t.daily, t.hour, a.node_pool, a.currency, sum(t.cost) AS cost
         FROM gpu_time t JOIN accounts a ON a.id = t.account WHERE a.currency IS NOT NULL GROUP BY 1, 2, 3, 4
       ), nodes AS (
         SELECT t.daily, t.hour, g.node_pool, g.currency, sum(t.cost) AS cost
         FROM node_time t JOIN node_groups g ON g.id = t.node_group WHERE g.currency IS NOT NULL GROUP BY 1, 2, 3, 4
       )
       SELECT b.daily AS daily, b.hour AS hour, b.node_pool AS node_pool, b.currency AS currency, b.cost AS counted,
         n.cost AS nodes
       FROM counted b JOIN nodes n USING (daily, hour, node_pool, currency)
       WHERE abs(b.cost - n.cost) > ${tolerance} * max(b.cost, n.cost) ORDER BY 2, 3 LIMIT ${most}`,
    )
    .all()
    .map((row) => {
      const span = numberIn(row, "daily") === 1 ? "day" : "hour";
      const begin = isoTime(numberIn(row, "hour") * secondsPerHour);
      return `the costs of node pool ${textIn(row, "node_pool")} do not close in the ${span} from ${begin}: counted ${numberIn(row, "counted")}, nodes ${numberIn(row, "nodes")} ${textIn(row, "currency")}`;
    });
}
