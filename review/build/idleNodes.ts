import type { LedgerTableRow } from "../../exporter/accounts/ledger/ledgerTableQuery.ts";
import { isoTime } from "../../exporter/kernel/isoTime.ts";
import type { Fragmentation, IdleNodePool, NodeStreak } from "../document/waste.ts";
import { hoursOf } from "./hours.ts";
import { askTable, costsOfRows, type Part, part, type ReviewAccounts, type ReviewQuestion } from "./source.ts";

/** States of node time that are worth a look; nodes in other states are in use, or not known. */
const idleStates: readonly string[] = [
  "idle_unallocated",
  "idle_allocated",
  "cordoned",
  "not_ready",
  "warm_unallocated",
  "warm_allocated",
];

const shownStreaks = 10;

/** Asks which nodes nobody used, by node pool and one by one. */
export async function askIdleNodes(
  accounts: ReviewAccounts,
  question: ReviewQuestion,
): Promise<Part<{ readonly pools: IdleNodePool[]; readonly streaks: NodeStreak[] }>> {
  const { cluster, days } = question;
  const pools = await askTable(accounts, days, "nodes", ["nodePool", "pool", "state", "currency", "capacityType"]);
  if (!pools.ok) return pools;
  const streaks = await askTable(accounts, days, "nodeStreaks", ["node", "nodePool", "pool", "state"]);
  if (!streaks.ok) return streaks;
  return part({
    pools: poolsOf(cluster, pools.value),
    streaks: sortedStreaks(streaks.value.map((row) => streakOf(cluster, days, row))),
  });
}

/** Sorts streaks, the longest first, and keeps as many as a review has. */
export function sortedStreaks(streaks: readonly NodeStreak[]): NodeStreak[] {
  return streaks
    .toSorted((one, other) => other.hours - one.hours || (one.node < other.node ? -1 : 1))
    .slice(0, shownStreaks);
}

/** Sorts node pools, those with the most node time first. */
export function sortedPools(pools: readonly IdleNodePool[]): IdleNodePool[] {
  return pools.toSorted((one, other) => other.nodeHours - one.nodeHours || (one.nodePool < other.nodePool ? -1 : 1));
}

function poolsOf(cluster: string, rows: readonly LedgerTableRow[]): IdleNodePool[] {
  const idle = rows.filter(({ values }) => idleStates.includes(values[2] ?? ""));
  const groups = Map.groupBy(idle, ({ values }) => JSON.stringify(values.slice(0, 3)));
  return sortedPools(
    [...groups.values()].map((group) => {
      const [nodePool, pool, state] = group[0]?.values ?? [];
      return {
        cluster,
        nodePool: nodePool ?? "",
        pool: pool ?? "",
        state: state ?? "",
        nodeHours: nodeHoursOf(group),
        costs: costsOfRows(group, 3),
        reservedNodeHours: nodeHoursOf(group.filter(isReserved)),
        reservedCosts: costsOfRows(group.filter(isReserved), 3),
      };
    }),
  );
}

const isReserved = ({ values }: LedgerTableRow): boolean => values[4] === "reserved";

const nodeHoursOf = (rows: readonly LedgerTableRow[]): number =>
  hoursOf(rows.reduce((sum, { amounts }) => sum + (amounts.nodeSeconds ?? 0), 0));

/**
 * The streak of a node in one state that has the largest part in the window. It is counted from its begin, which may be before
 * the window, until the end of the window at the latest.
 */
function streakOf(
  cluster: string,
  { from, to }: ReviewQuestion["days"],
  { values, amounts }: LedgerTableRow,
): NodeStreak {
  const [node, nodePool, pool, state] = values;
  const begins = amounts.longestBegins ?? 0;
  const ends = amounts.longestEnds ?? null;
  return {
    cluster,
    node: node ?? "",
    nodePool: nodePool ?? "",
    pool: pool ?? "",
    state: state ?? "",
    begins: isoTime(begins),
    ends: ends === null || ends >= to ? null : isoTime(ends),
    hours: hoursOf(Math.max(0, from - begins) + (amounts.longestSeconds ?? 0)),
  };
}

/** Asks what could be placed on the free GPUs of each pool. */
export async function askFragmentation(
  accounts: ReviewAccounts,
  question: ReviewQuestion,
): Promise<Part<Fragmentation[]>> {
  const placement = await askTable(accounts, question.days, "placement", ["pool"]);
  if (!placement.ok) return placement;
  return part(
    sortedFragmentation(
      placement.value.map(({ values, amounts }) => {
        const { largestPlaceableMean: mean, largestPlaceableMin: min, largestPlaceableMax: max } = amounts;
        const isKnown = mean !== null && mean !== undefined;
        return {
          cluster: question.cluster,
          pool: values[0] ?? "",
          freeGpuHours: hoursOf(amounts.free ?? 0),
          strandedGpuHours: hoursOf(amounts.stranded ?? 0),
          blockedGpuHours: hoursOf(amounts.blocked ?? 0),
          largestPlaceableGpus: isKnown ? { mean, min: min ?? mean, max: max ?? mean } : null,
        };
      }),
    ),
  );
}

/** Sorts pools, those with the most blocked work first. */
export function sortedFragmentation(pools: readonly Fragmentation[]): Fragmentation[] {
  return pools.toSorted(
    (one, other) =>
      other.blockedGpuHours - one.blockedGpuHours ||
      other.strandedGpuHours - one.strandedGpuHours ||
      (one.pool < other.pool ? -1 : 1),
  );
}
