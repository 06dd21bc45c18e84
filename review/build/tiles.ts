import type { Period } from "../document/head.ts";
import type { Terms, Tile, TileId } from "../document/tiles.ts";
import { mainCurrency, sumCosts } from "./sumCosts.ts";

interface TileKind {
  readonly id: TileId;
  readonly title: string;
  readonly owner: string;
  /** The value of the tile for a period; `null` where it is not known. */
  readonly of: (period: Period) => number | null;
  readonly unit: string;
  readonly note: string;
}

/**
 * The tiles of a review. Each has the value of the last period, and those of the periods before that can be compared with it. A
 * review of one team has no capacity of its own.
 */
export function tilesOf(
  periods: readonly Period[],
  team: string | null,
  isComparable: (period: Period) => boolean = () => true,
): readonly Tile[] {
  const currency = mainCurrency(sumCosts(periods.map(({ costs }) => costs)));
  return tileKinds(periods, team, currency).map(({ id, title, owner, of, unit, note }) => {
    const values = periods.map((period) => (period.coverage === null || !isComparable(period) ? null : of(period)));
    const value = values.at(-1) ?? null;
    const before = periods.slice(0, -1).map(({ label }, i) => ({ label, value: values[i] ?? null }));
    return { id, title, unit, value, before, change: changeOf(periods, values, unit === "ratio"), note, owner };
  });
}

function tileKinds(periods: readonly Period[], team: string | null, currency: string | null): readonly TileKind[] {
  const last = periods.at(-1);
  const use: readonly TileKind[] = [
    {
      id: "active",
      title: "utilization",
      owner: team === null ? "teams" : "team",
      of: ({ active, judged }) => ratioOf(active, judged),
      unit: "ratio",
      note: "active of what was allocated and observed",
    },
    {
      id: "cost",
      title: "cost",
      owner: team === null ? "who pays" : "team",
      of: ({ costs }) => (currency === null ? null : (costs[currency] ?? 0)),
      unit: currency ?? "",
      note: costNote(last, team, currency),
    },
  ];
  if (team !== null)
    return [
      { id: "allocated", title: "allocated", owner: "team", of: ({ capacity }) => capacity, unit: "GPU-h", note: "" },
      ...use,
    ];
  return [
    { id: "capacity", title: "capacity", owner: "platform", of: ({ capacity }) => capacity, unit: "GPU-h", note: "" },
    {
      id: "allocated",
      title: "allocated",
      owner: "platform",
      of: ({ allocated, capacity }) => ratioOf(allocated, capacity),
      unit: "ratio",
      note: "of capacity, to pods that use it or not",
    },
    ...use,
  ];
}

function costNote(last: Period | undefined, team: string | null, currency: string | null): string {
  if (last === undefined || currency === null) return "no price is known";
  const others = Object.keys(last.costs).filter((name) => name !== currency);
  const more = others.length === 0 ? "" : `; other currencies beside it: ${others.join(", ")}`;
  if (team !== null) return `of all that was allocated to it${more}`;
  const notAllocated = last.notAllocatedCosts[currency] ?? 0;
  const whole = last.costs[currency] ?? 0;
  const share =
    whole > 0 ? `${Math.round((100 * notAllocated) / whole)} % of it was allocated to nobody` : "nothing was counted";
  return `${share}${more}`;
}

/**
 * How the last value differs from the mean of those before. Amounts are compared per covered hour, so that a week that is not
 * over, or has gaps, does not look smaller.
 */
function changeOf(periods: readonly Period[], values: readonly (number | null)[], isRatio: boolean): number | null {
  const rates = values.map((value, i) => {
    const seconds = periods[i]?.coveredSeconds ?? 0;
    return value === null || seconds <= 0 ? null : isRatio ? value : value / seconds;
  });
  const now = rates.at(-1) ?? null;
  const before = rates.slice(0, -1).filter((rate) => rate !== null);
  if (now === null || before.length === 0) return null;
  const mean = before.reduce((sum, rate) => sum + rate, 0) / before.length;
  if (isRatio) return now - mean;
  return mean > 0 ? now / mean - 1 : null;
}

/**
 * The terms of capacity planners for one period of one cluster. A team has no scheduling efficiency, because no GPUs belong to
 * a team, whoever holds them.
 */
export function termsOf(period: Period, team: string | null): Terms {
  const { capacity, allocated, active, judged, usable, pending, coveredSeconds } = period;
  const covered = coveredSeconds / 3600;
  const mean = (gpuHours: number): number | null => (covered > 0 ? gpuHours / covered : null);
  return {
    totalGpus: mean(capacity),
    effectiveGpus: mean(active),
    wastedGpus: mean(Math.max(0, allocated - active)),
    utilization: ratioOf(active, judged),
    schedulingEfficiency:
      pending === null || team !== null ? null : ratioOf(allocated, Math.min(usable, allocated + pending)),
  };
}

function ratioOf(amount: number, whole: number): number | null {
  return whole > 0 ? Math.min(1, amount / whole) : null;
}
