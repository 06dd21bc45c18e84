import type { Prices } from "../analysis/prices/prices.ts";
import { shownGpus } from "../join/shownGpus.ts";
import type { Snapshot } from "../join/snapshot.ts";
import type { Problem } from "../model/problem.ts";
import { costsByPool, imbalancedNodes } from "./inventory.ts";
import type { AccruedTime } from "./posting.ts";

/** The relative difference below which the accounts of a pool count as balanced; it covers the rounding errors of sums. */
const closedWithin = 1e-9;
const secondsPerHour = 3600;

/** The GPU-seconds that are counted in a pool over a step, and those of its physical GPUs. */
export interface PoolBalance {
  readonly pool: string;
  readonly accountedGpuSeconds: number;
  readonly physicalGpuSeconds: number;
  /** The difference between the two, without its sign, divided by the larger of them; 0 where both are 0. */
  readonly relativeDifference: number;
}

/** Compares the postings of a step with its control sums, pool by pool. */
export function balancePools({ postings, poolHours }: AccruedTime): readonly PoolBalance[] {
  const accounted = new Map<string, number>();
  const physical = new Map<string, number>();
  for (const { account, gpuSeconds } of postings)
    accounted.set(account.pool, (accounted.get(account.pool) ?? 0) + gpuSeconds);
  for (const { pool, physicalGpuSeconds } of poolHours)
    physical.set(pool, (physical.get(pool) ?? 0) + physicalGpuSeconds);
  return [...new Set([...physical.keys(), ...accounted.keys()])].map((pool) => {
    const accountedGpuSeconds = accounted.get(pool) ?? 0;
    const physicalGpuSeconds = physical.get(pool) ?? 0;
    const larger = Math.max(accountedGpuSeconds, physicalGpuSeconds);
    const relativeDifference = larger > 0 ? Math.abs(accountedGpuSeconds - physicalGpuSeconds) / larger : 0;
    return { pool, accountedGpuSeconds, physicalGpuSeconds, relativeDifference };
  });
}

/** One problem for each pool whose postings do not add up to its physical GPUs. */
export function openAccounts(step: AccruedTime): readonly Problem[] {
  return balancePools(step)
    .filter(({ relativeDifference }) => !(relativeDifference < closedWithin))
    .map(({ pool, accountedGpuSeconds, physicalGpuSeconds }) => ({
      source: "accounts",
      code: "accounts-do-not-close",
      severity: "error",
      subject: pool,
      message: `${accountedGpuSeconds} GPU-seconds are counted in pool ${pool} over the last step of ${step.interval.seconds} s, and its GPUs make ${physicalGpuSeconds}`,
      nextStep: "This is a fault in Fairlead: please report it with the output of fairlead inspect --output json.",
    }));
}

/** The cost that is counted in a pool over a step in one currency, and the cost of its nodes in that time. */
export interface CostBalance {
  readonly pool: string;
  readonly currency: string;
  readonly accountedCost: number;
  readonly nodeCost: number;
  /** The difference between the two, without its sign, divided by the larger of them; 0 where both are 0. */
  readonly relativeDifference: number;
}

interface CostSum {
  readonly pool: string;
  readonly currency: string;
  accountedCost: number;
  nodeCost: number;
}

/** Compares the cost of the postings of a step with the prices of the nodes that existed at its start, times its seconds. */
export function balanceCosts(
  { postings, interval }: AccruedTime,
  snapshot: Snapshot,
  prices: Prices,
): readonly CostBalance[] {
  if (interval.gap !== null) return [];
  const sums: CostSum[] = [];
  const ofPool = new Map<string, CostSum>();
  // Most pools have one currency; further ones are searched for.
  const sumOf = (pool: string, currency: string): CostSum => {
    const first = ofPool.get(pool);
    if (first?.currency === currency) return first;
    const known = sums.find((sum) => sum.pool === pool && sum.currency === currency);
    if (known !== undefined) return known;
    const sum = { pool, currency, accountedCost: 0, nodeCost: 0 };
    sums.push(sum);
    if (first === undefined) ofPool.set(pool, sum);
    return sum;
  };
  for (const { account, cost } of postings) {
    if (cost !== null) sumOf(account.pool, account.currency ?? "").accountedCost += cost;
  }
  for (const { pool, currency, costPerHour } of costsByPool(snapshot, prices))
    sumOf(pool, currency).nodeCost += (costPerHour * interval.seconds) / secondsPerHour;
  return sums.map((sum) => {
    const larger = Math.max(sum.accountedCost, sum.nodeCost);
    const relativeDifference = larger > 0 ? Math.abs(sum.accountedCost - sum.nodeCost) / larger : 0;
    return { ...sum, relativeDifference };
  });
}

/** One problem for each pool and currency in which the cost of all states differs from the cost of the nodes. */
export function openCosts(step: AccruedTime, snapshot: Snapshot, prices: Prices): readonly Problem[] {
  return balanceCosts(step, snapshot, prices)
    .filter(({ relativeDifference }) => !(relativeDifference < closedWithin))
    .map(({ pool, currency, accountedCost, nodeCost }) => ({
      source: "accounts",
      code: "costs-do-not-close",
      severity: "error",
      subject: pool,
      message: `${accountedCost} ${currency} are counted in pool ${pool} over the last step of ${step.interval.seconds} s, and its nodes cost ${nodeCost}`,
      nextStep: "This is a fault in Fairlead: please report it with the output of fairlead inspect --output json.",
    }));
}

/** The problem that names the node on which the count by device and the count by pod differ most; empty while they agree. */
export function worstImbalance(snapshot: Snapshot): readonly Problem[] {
  const different = imbalancedNodes(snapshot, 1);
  const [worst, ...rest] = [...different].sort((a, b) => b.gpuSeconds - a.gpuSeconds || (a.node < b.node ? -1 : 1));
  const node = snapshot.nodes.find(({ name }) => name === worst?.node);
  if (node === undefined) return [];
  const others = rest.length === 0 ? "" : `; ${rest.length} other nodes differ less`;
  return [
    {
      source: "accounts",
      code: "accounting-imbalance",
      severity: "warning",
      subject: node.name,
      message: `on node ${node.name}, ${shownGpus(node.allocatedByDevices)} GPUs are allocated as its devices say, and ${shownGpus(node.allocatedByPods)} as its pods say${others}`,
      nextStep:
        "The other problems of this node say which source is not believed; the accounts follow its devices until both agree.",
    },
  ];
}
