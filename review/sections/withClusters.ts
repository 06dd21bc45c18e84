import type { Review } from "../document/review.ts";
import { nameText } from "../words/names.ts";
import { type Table, textColumn } from "./section.ts";

/** Says of each row which cluster it is of, where a review is of several. */
export function withClusters(review: Pick<Review, "clusters">, table: Table): Table {
  if (review.clusters.length < 2) return table;
  return {
    ...table,
    columns: [textColumn("cluster"), ...table.columns],
    rows: table.rows.map((row) => ({ ...row, cells: [[nameText(row.cluster)], ...row.cells] })),
  };
}
