import { expect } from "vitest";
import type { PlayedCluster } from "../../cli/demo/playCluster.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { type Config, configSchema } from "../../exporter/config/schema.ts";
import type { Truth } from "../../simulator/truth.ts";

/** GPUs are sums of binary fractions: this much may be lost in adding. */
export const tolerance = 1e-6;

export const startAt = Date.parse("2026-11-16T13:00:00Z") / 1000;

export function teamsByNamespaceLabel(cluster: string): Config {
  return configSchema.parse({ cluster, teams: [{ from: "namespace-label", key: "team" }] });
}

export function latest(cluster: PlayedCluster): Analysis {
  const analysis = cluster.stack.cycle.latest();
  if (analysis === null) throw new Error("no cycle was completed");
  return analysis;
}

export function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** Adds up amounts by key. */
export function sumBy<T>(
  items: Iterable<T>,
  keyOf: (item: T) => string,
  amountOf: (item: T) => number,
): Map<string, number> {
  const sums = new Map<string, number>();
  for (const item of items) sums.set(keyOf(item), (sums.get(keyOf(item)) ?? 0) + amountOf(item));
  return sums;
}

/** Both maps say the same amount for every key; an absent key is 0. */
export function expectSameAmounts(
  found: ReadonlyMap<string, number>,
  wanted: ReadonlyMap<string, number>,
  what: string,
): void {
  const isSame = (key: string): boolean => Math.abs((found.get(key) ?? 0) - (wanted.get(key) ?? 0)) < tolerance;
  const others = [...new Set([...found.keys(), ...wanted.keys()])].filter((key) => !isSame(key));
  expect(others.map((key) => `${what} ${key}: found ${found.get(key)}, truth ${wanted.get(key)}`)).toEqual([]);
}

/** Whatever happens: every GPU of a counted node is counted once, nothing is allocated twice, nothing unseen is active. */
export function expectClosedAccounts(analysis: Analysis): void {
  const { snapshot, accountingEntries, pools } = analysis;
  for (const pool of pools)
    expect(Math.abs(sum(Object.values(pool.states)) - pool.physicalGpus), `pool ${pool.pool} adds up`).toBeLessThan(
      tolerance,
    );
  expect(
    Math.abs(sum(pools.map((p) => p.physicalGpus)) - sum(snapshot.nodes.map((n) => n.physicalGpus ?? 0))),
  ).toBeLessThan(tolerance);
  const accounted = sumBy(
    accountingEntries.list,
    (b) => b.node,
    (b) => b.gpus,
  );
  expectSameAmounts(accounted, new Map(snapshot.nodes.map((n) => [n.name, n.physicalGpus ?? 0])), "booked on node");
  // Each list is compared once, as there are thousands of entries and the matcher would cost more than the exporter.
  expect(accountingEntries.list.filter(({ gpus }) => !(gpus > 0))).toEqual([]);
  const activityOf = (device: number | null): number | null =>
    (device === null ? undefined : snapshot.devices[device])?.activity ?? null;
  const unseen = accountingEntries.list.filter(
    ({ state, device }) => state === "active" && activityOf(device) === null,
  );
  expect(unseen, "active, but no activity was observed").toEqual([]);
  const overfull = snapshot.devices.filter(
    ({ holders, weight }) => !(sum(holders.map(({ share }) => share)) <= weight + tolerance),
  );
  expect(overfull, "devices that are allocated more than once").toEqual([]);
  const invented = snapshot.devices.filter(({ reading, activity }) => reading === null && activity !== null);
  expect(invented, "activity of devices that nobody has read").toEqual([]);
  const imbalance = sum(snapshot.nodes.map((n) => Math.abs(n.allocatedByDevices - n.allocatedByPods)));
  expect(
    Math.abs(imbalance - sum(pools.map((p) => p.imbalance))),
    "differences of the sums by device and by pod are published",
  ).toBeLessThan(tolerance * Math.max(1, snapshot.nodes.length));
}

/** What the exporter counts as held by each team on these nodes equals what the simulator's GPUs are held for. */
export function expectTrueHoldings(
  analysis: Analysis,
  truth: Truth,
  isKnown: (node: string) => boolean,
  nobody: string,
): void {
  const allocated = analysis.accountingEntries.list.filter((b) => b.pod !== null && isKnown(b.node));
  const found = sumBy(
    allocated,
    (b) => `${analysis.snapshot.pods[b.pod ?? -1]?.team}`,
    (b) => b.gpus,
  );
  const holders = truth.physicalGpus.filter((c) => isKnown(c.node)).flatMap((physicalGpu) => physicalGpu.holders);
  expectSameAmounts(
    found,
    sumBy(
      holders,
      (h) => h.team ?? nobody,
      (h) => h.share,
    ),
    "held by team",
  );
}
