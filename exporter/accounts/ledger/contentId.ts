import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { textIn } from "./sqliteRow.ts";

const batch = 1000;

/** A name for what an attached ledger holds (hexadecimal): the same content has the same one, wherever it lies. Reads all of it. */
export function contentId(db: DatabaseSync, name: string): string {
  const hash = createHash("sha256");
  const tables = db
    .prepare(`SELECT name FROM ${name}.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
    .all()
    .map((row) => textIn(row, "name"));
  for (const table of tables) {
    const columns = db
      .prepare(`SELECT name FROM pragma_table_info(?, ?) ORDER BY cid`)
      .all(table, name)
      .map((row) => textIn(row, "name"));
    const rows = db.prepare(`SELECT ${columns.join(", ")} FROM ${name}.${table} ORDER BY ${columns.join(", ")}`);
    rows.setReturnArrays(true);
    hash.update(`${table}\n`);
    let text = "";
    let n = 0;
    for (const row of rows.iterate()) {
      text += `${JSON.stringify(row)}\n`;
      n += 1;
      if (n % batch !== 0) continue;
      hash.update(text);
      text = "";
    }
    hash.update(text);
  }
  return hash.digest("hex");
}
