import type { DatabaseSync } from "node:sqlite";

/**
 * The names that sums refer to, by content: the columns of each table, without its id and the day on which it was last used.
 */
const dimensions = {
  accounts: ["pool", "node_pool", "capacity_type", "team", "queue", "namespace", "priority_class", "state", "currency"],
  workloads: ["kind", "namespace", "name"],
  node_groups: ["pool", "node_pool", "capacity_type", "state", "currency"],
  queues: ["scheduler", "kind", "queue", "domain", "team"],
  wait_groups: ["queue", "team", "priority_class", "size_class", "phase"],
  shapes: ["shape"],
  domain_pools: ["domain", "pool"],
  pool_models: ["pool", "model"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** A table of names to which sums refer by id. */
export type Dimension = keyof typeof dimensions;

/** The table that says which row of the merged ledger a row of a source has become: (source, id) -> merged. */
export const idsOf = (dimension: Dimension): string => `temp.ids_${dimension}`;

/**
 * Writes the dimension tables: one row for each content, its last use is the last use in any source. Sources may have several
 * rows of the same content; their sums are added up, as queries do. CROSS JOIN keeps SQLite from taking the tables in another
 * order, which has no index.
 */
export function mergeDimensions(db: DatabaseSync, sources: readonly string[]): void {
  for (const [table, columns] of Object.entries(dimensions)) {
    const names = columns.join(", ");
    const content = `json_array(${columns.map((column) => `t.${column}`).join(", ")})`;
    db.exec(`
      CREATE TEMP TABLE found (id INTEGER PRIMARY KEY, content TEXT NOT NULL UNIQUE, last_day INTEGER NOT NULL);
      CREATE TEMP TABLE ids_${table} (
        source INTEGER NOT NULL, id INTEGER NOT NULL, merged INTEGER NOT NULL, PRIMARY KEY (source, id)
      ) WITHOUT ROWID;`);
    for (const [source, name] of sources.entries()) {
      db.exec(`
        INSERT INTO temp.found (content, last_day) SELECT ${content}, t.last_day FROM ${name}.${table} t WHERE true ORDER BY t.id
          ON CONFLICT (content) DO UPDATE SET last_day = max(found.last_day, excluded.last_day);
        INSERT INTO temp.ids_${table} SELECT ${source}, t.id, f.id FROM ${name}.${table} t CROSS JOIN temp.found f ON f.content = ${content};
        INSERT OR IGNORE INTO main.${table} (id, ${names}, last_day)
          SELECT i.merged, ${columns.map((column) => `t.${column}`).join(", ")}, 0
          FROM ${name}.${table} t CROSS JOIN temp.ids_${table} i ON i.source = ${source} AND i.id = t.id;`);
    }
    db.exec(`
      UPDATE main.${table} SET last_day = (SELECT f.last_day FROM temp.found f WHERE f.id = ${table}.id);
      DROP TABLE temp.found;`);
  }
}
