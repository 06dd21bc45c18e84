import { join } from "node:path";
import { readTable } from "../../../simulator/traceTable.ts";

/** A series of nodes in steps of ten minutes: the most of each step. */
export interface NodeSeries {
  /** Nodes with work. */
  readonly active: readonly number[];
  /** All nodes. */
  readonly total: readonly number[];
}

/** Minutes of a step, as the published rule has them. */
export const stepMinutes = 10;

/**
 * Reads the minutes from `from` up to, not including, `until` (days as 2017-12-01) and keeps the most of each step, as the
 * published rule does. Throws if the file cannot be read.
 */
export function readNodeSeries(folder: string, from: string, until: string): NodeSeries {
  const active: number[] = [];
  const total: number[] = [];
  let step = "";
  for (const row of readTable(join(folder, "node_sequence.csv.gz"))) {
    const time = row("time");
    if (time < from || time >= until) continue;
    const own = time.slice(0, 15);
    if (own !== step) {
      step = own;
      active.push(0);
      total.push(0);
    }
    const last = active.length - 1;
    active[last] = Math.max(active[last] ?? 0, Number(row("active")));
    total[last] = Math.max(total[last] ?? 0, Number(row("total")));
  }
  return { active, total };
}

/** Mean of active over total nodes by minute, and the number of minutes. Throws if the file cannot be read. */
export function meanUse(folder: string): { readonly minutes: number; readonly mean: number } {
  const rows = readTable(join(folder, "node_sequence.csv.gz"));
  const sum = rows.reduce((of, row) => of + Number(row("active")) / Number(row("total")), 0);
  return { minutes: rows.length, mean: rows.length === 0 ? 0 : sum / rows.length };
}
