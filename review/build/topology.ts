import { gangSizes } from "../../exporter/model/topology.ts";
import type { FittedGangs } from "../document/topology.ts";
import { hoursOf } from "./hours.ts";
import { askTable, type Part, part, type ReviewAccounts, type ReviewQuestion } from "./source.ts";

/**
 * Asks which gangs would have fitted within one domain of each level of the topology; `null` where no level is known, or nobody
 * has kept it.
 */
export async function askTopology(
  accounts: ReviewAccounts,
  { cluster, days }: ReviewQuestion,
): Promise<Part<FittedGangs[] | null>> {
  const asked = await askTable(accounts, days, "topology", ["pool", "level"]);
  if (!asked.ok) return asked;
  if (asked.value.length === 0) return part(null);
  const rows = asked.value.map(({ values: [pool, level], amounts }): FittedGangs => {
    const seconds = amounts.seconds ?? 0;
    const gangs = gangSizes.map((gpus) => ({ gpus, ratio: partOf(amounts[`fitted${gpus}`] ?? 0, seconds) }));
    const largest = (least: (ratio: number) => boolean) => gangs.findLast(({ ratio }) => least(ratio))?.gpus ?? 0;
    return {
      cluster,
      pool: pool ?? "",
      level: level ?? "",
      hours: hoursOf(seconds),
      largestGpus: largest((ratio) => ratio > 0),
      halfOfTimeGpus: largest((ratio) => ratio >= 0.5),
      gangs,
    };
  });
  return part(sortedTopology(rows));
}

/** Sums of seconds are not exact: no part is more than the whole. */
const partOf = (fitted: number, seconds: number): number => (seconds > 0 ? Math.min(1, fitted / seconds) : 0);

/** Sorts levels by pool; those of one pool by the largest gang that fitted, so that wide levels are first. */
export function sortedTopology(rows: readonly FittedGangs[]): FittedGangs[] {
  return rows.toSorted(
    (one, other) =>
      compareNames(one.pool, other.pool) ||
      other.largestGpus - one.largestGpus ||
      other.halfOfTimeGpus - one.halfOfTimeGpus ||
      compareNames(one.level, other.level),
  );
}

const compareNames = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);
