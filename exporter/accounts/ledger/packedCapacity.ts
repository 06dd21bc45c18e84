import type { TuplePart } from "../../kernel/tupleInterner.ts";
import {
  type CapacityTime,
  type DomainTime,
  noCapacityTime,
  type PlacementTime,
  strandedTimes,
  type TopologyTime,
} from "../capacityTime.ts";
import type { NodeStreak } from "../nodeStreakAccount.ts";
import type { Outage } from "../outageAccount.ts";
import { createTupleList } from "./tupleList.ts";

/** What an entry adds to the accounts of capacity. These are few rows, so they need no columns. */
export interface PackedCapacity extends CapacityTime {
  readonly nodeStreaks: readonly NodeStreak[];
  readonly outages: readonly Outage[];
}

/**
 * The most streaks or outages that are kept; if there are more, only the last ones are: waiting entries must not grow without
 * end where nodes come and go all the time.
 */
const mostStreaks = 50_000;
const mostNames = 10_000;

/** The number of rows of sums that an entry adds. */
export function capacityRowCount({ domains, placement, topology }: PackedCapacity): number {
  return domains.length + placement.length + topology.length;
}

/**
 * Merges two of these: times of the same hour and domain (or pool, and level) become one, and only the last report of each streak or
 * outage counts.
 */
export function mergeCapacity(earlier: PackedCapacity, later: PackedCapacity): PackedCapacity {
  return {
    domains: sumBy([...earlier.domains, ...later.domains], ({ hour, domain }) => [`${hour}`, domain], addDomains),
    placement: sumBy([...earlier.placement, ...later.placement], ({ hour, pool }) => [`${hour}`, pool], addPlacement),
    topology: sumBy(
      [...earlier.topology, ...later.topology],
      ({ hour, pool, level }) => [`${hour}`, pool, level],
      addTopology,
    ),
    domainPools: names([...earlier.domainPools, ...later.domainPools], ({ domain, pool }) => [domain, pool]),
    poolModels: names([...earlier.poolModels, ...later.poolModels], ({ pool, model }) => [pool, model]),
    nodeStreaks: lastReports(earlier.nodeStreaks, later.nodeStreaks, ({ begins, node }) => `${begins} ${node}`),
    outages: lastReports(earlier.outages, later.outages, ({ begins, node, gpu }) => `${begins} ${node} ${gpu}`),
  };
}

/** The capacity without its sums, whose time is not covered. */
export function withoutTimes(capacity: PackedCapacity): PackedCapacity {
  const { domains, placement, topology } = noCapacityTime;
  return { ...capacity, domains, placement, topology };
}

/** Adds up rows with the same key, in the order of their first occurrence. */
export function sumBy<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => readonly TuplePart[],
  add: (one: Row, other: Row) => Row,
): readonly Row[] {
  const keys = createTupleList();
  const sums: Row[] = [];
  for (const row of rows) {
    const at = keys.indexOf(keyOf(row));
    const before = sums[at];
    sums[at] = before === undefined ? row : add(before, row);
  }
  return sums;
}

function names<Row>(rows: readonly Row[], keyOf: (row: Row) => readonly TuplePart[]): readonly Row[] {
  return sumBy(rows, keyOf, (one) => one).slice(-mostNames);
}

function addDomains(one: DomainTime, other: DomainTime): DomainTime {
  return {
    ...one,
    seconds: one.seconds + other.seconds,
    capacity: one.capacity + other.capacity,
    allocated: one.allocated + other.allocated,
    pending: one.pending + other.pending,
    guaranteedSeconds: one.guaranteedSeconds + other.guaranteedSeconds,
    guaranteed: one.guaranteed + other.guaranteed,
  };
}

function addPlacement(one: PlacementTime, other: PlacementTime): PlacementTime {
  return {
    ...one,
    seconds: one.seconds + other.seconds,
    free: one.free + other.free,
    stranded: strandedTimes((reason) => one.stranded[reason] + other.stranded[reason]),
    blocked: one.blocked + other.blocked,
    largestPlaceable: one.largestPlaceable + other.largestPlaceable,
    largestPlaceableMin: Math.min(one.largestPlaceableMin, other.largestPlaceableMin),
    largestPlaceableMax: Math.max(one.largestPlaceableMax, other.largestPlaceableMax),
  };
}

function addTopology(one: TopologyTime, other: TopologyTime): TopologyTime {
  return {
    ...one,
    seconds: one.seconds + other.seconds,
    fitted: one.fitted.map((seconds, i) => seconds + (other.fitted[i] ?? 0)),
  };
}

function lastReports<Report>(
  earlier: readonly Report[],
  later: readonly Report[],
  keyOf: (report: Report) => string,
): readonly Report[] {
  if (later.length === 0) return earlier;
  const last = new Map<string, Report>();
  for (const report of [...earlier, ...later]) last.set(keyOf(report), report);
  return [...last.values()].slice(-mostStreaks);
}
