import type { LedgerTableRow } from "../../exporter/accounts/ledger/ledgerTableQuery.ts";
import { isoTime } from "../../exporter/kernel/isoTime.ts";
import type { FaultCause, FaultOutage } from "../document/faults.ts";
import type { Review } from "../document/review.ts";
import { hoursOf } from "./hours.ts";
import { askTable, costsOfRows, type Part, part, type ReviewAccounts, type ReviewQuestion } from "./source.ts";

const shownOutages = 10;

/** Asks what faults of hardware and nodes took away, by cause and one by one. */
export async function askFaults(accounts: ReviewAccounts, question: ReviewQuestion): Promise<Part<Review["faults"]>> {
  const { cluster, days } = question;
  const lost = await askTable(accounts, days, "health", ["cause", "currency"]);
  if (!lost.ok) return lost;
  const repairs = await askTable(accounts, days, "outages", ["cause"]);
  if (!repairs.ok) return repairs;
  const outages = await askTable(accounts, days, "outages", ["node", "gpu", "pool", "cause", "teams"]);
  if (!outages.ok) return outages;
  return part({
    causes: causesOf(lost.value, repairs.value),
    outages: sortedOutages(outages.value.map((row) => outageOf(cluster, days.to, row))),
  });
}

/** Sorts causes, those with the most GPU-hours first. */
export function sortedCauses(causes: readonly FaultCause[]): FaultCause[] {
  return causes.toSorted((one, other) => other.gpuHours - one.gpuHours || (one.cause < other.cause ? -1 : 1));
}

/** Sorts outages, those with the most GPU-hours first, and keeps as many as a review has. */
export function sortedOutages(outages: readonly FaultOutage[]): FaultOutage[] {
  const nameOf = ({ cluster, node, gpu, cause }: FaultOutage) => [cluster, node, gpu, cause].join("\u0000");
  return outages
    .toSorted((one, other) => other.gpuHours - one.gpuHours || (nameOf(one) < nameOf(other) ? -1 : 1))
    .slice(0, shownOutages);
}

function causesOf(lost: readonly LedgerTableRow[], repairs: readonly LedgerTableRow[]): FaultCause[] {
  const repairOf = new Map(repairs.map(({ values, amounts }) => [values[0] ?? "", amounts] as const));
  const groups = Map.groupBy(lost, ({ values }) => values[0] ?? "");
  return sortedCauses(
    [...groups].map(([cause, rows]) => {
      const repaired = repairOf.get(cause);
      const repairSeconds = repaired?.meanRepairSeconds ?? null;
      return {
        cause,
        gpuHours: hoursOf(rows.reduce((sum, { amounts }) => sum + (amounts.gpuSeconds ?? 0), 0)),
        costs: costsOfRows(rows, 1),
        outages: repaired?.outages ?? 0,
        repaired: repaired?.repaired ?? 0,
        meanRepairHours: repairSeconds === null ? null : hoursOf(repairSeconds),
      };
    }),
  );
}

function outageOf(cluster: string, to: number, { values, amounts }: LedgerTableRow): FaultOutage {
  const [node, gpu, pool, cause, teams] = values;
  const ends = amounts.longestEnds ?? null;
  return {
    cluster,
    node: node ?? "",
    gpu: gpu ?? "",
    pool: pool ?? "",
    cause: cause ?? "",
    teams: teams ?? "",
    begins: isoTime(amounts.longestBegins ?? 0),
    ends: ends === null || ends >= to ? null : isoTime(ends),
    gpuHours: hoursOf(amounts.gpuSeconds ?? 0),
  };
}
