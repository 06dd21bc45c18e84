import { sumCosts } from "../build/sumCosts.ts";
import { utilizationOf } from "../build/teams.ts";
import { sortedWaits, waitsOf } from "../build/waits.ts";
import type { TeamRow, WaitRow } from "../document/use.ts";
import { sumOrUnknown } from "./sumOrUnknown.ts";

/** Merges the tables of teams of several clusters: teams with the same name are one team. */
export function mergeTeams(all: readonly (readonly TeamRow[])[]): TeamRow[] {
  return [...Map.groupBy(all.flat(), ({ team }) => team)].map(([team, rows]) => {
    const sum = (of: (row: TeamRow) => number): number => rows.reduce((total, row) => total + of(row), 0);
    const sumKnown = (of: (row: TeamRow) => number | null): number | null => sumOrUnknown(rows.map(of));
    const active = sum((row) => row.active);
    const judged = sum((row) => row.judged);
    const waits = rows.map((row) => row.waits);
    const known = waits.filter((one) => one !== null);
    return {
      team,
      allocated: sum(({ allocated }) => allocated),
      active,
      judged,
      idle: sum(({ idle }) => idle),
      stalled: sumKnown(({ stalled }) => stalled),
      underutilized: sum(({ underutilized }) => underutilized),
      whole: sumKnown(({ whole }) => whole),
      utilization: utilizationOf(active, judged),
      entitled: sumKnown(({ entitled }) => entitled),
      deviation: sumKnown(({ deviation }) => deviation),
      shortByOthers: sumKnown(({ shortByOthers }) => shortByOthers),
      shortByIdleGap: sumKnown(({ shortByIdleGap }) => shortByIdleGap),
      shortByLostNode: sumKnown(({ shortByLostNode }) => shortByLostNode),
      shortByNodeToCome: sumKnown(({ shortByNodeToCome }) => shortByNodeToCome),
      shortByPastQueues: sumKnown(({ shortByPastQueues }) => shortByPastQueues),
      shortByPromisedTwice: sumKnown(({ shortByPromisedTwice }) => shortByPromisedTwice),
      shortByIndivisible: sumKnown(({ shortByIndivisible }) => shortByIndivisible),
      waits: known.length < waits.length ? null : waitsOf(known.flatMap(({ buckets }) => buckets)),
      evictions: sumKnown(({ evictions }) => evictions),
      lostToEvictions: sumKnown(({ lostToEvictions }) => lostToEvictions),
      lostToFailures: sumKnown(({ lostToFailures }) => lostToFailures),
      costs: sumCosts(rows.map(({ costs }) => costs)),
      wasteCosts: sumCosts(rows.map(({ wasteCosts }) => wasteCosts)),
      jobs: sumKnown(({ jobs }) => jobs),
      budgets: rows.flatMap(({ budgets }) => budgets),
    };
  });
}

/** Merges waits of the same queue, size and priority; the percentiles are those of all of them together. */
export function mergeWaitRows(rows: readonly WaitRow[]): WaitRow[] {
  const groups = Map.groupBy(rows, ({ queue, sizeClass, priorityClass }) =>
    JSON.stringify([queue, sizeClass, priorityClass]),
  );
  return sortedWaits(
    [...groups.values()].flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const { queue, sizeClass, priorityClass } = first;
      return [{ queue, sizeClass, priorityClass, ...waitsOf(group.flatMap(({ buckets }) => buckets)) }];
    }),
  );
}
