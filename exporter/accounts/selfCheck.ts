import type { Prices } from "../analysis/prices/prices.ts";
import { shownGpus } from "../join/shownGpus.ts";
import type { Snapshot } from "../join/snapshot.ts";
import type { Problem } from "../model/problem.ts";
import { costsByPool, imbalancedNodes } from "./inventory.ts";
import type { AccruedTime } from "./posting.ts";

/** Relative difference below which the books of a pool count as closed: what is lost in adding up. */
const closedWithin = 1e-9;
const secondsPerHour = 3600;

/** What is booked in a pool over a step, and what its cards make of it. */
export interface PoolBalance {
  readonly pool: string;
  readonly bookedGpuSeconds: number;
  readonly physicalGpuSeconds: number;
  /** |booked - physical| over the larger of them; 0 where both are 0. */
  readonly relativeDifference: number;
}

/** Compares the postings of a step with its control sums, pool by pool. */
export function balancePools({ postings, poolHours }: AccruedTime): readonly PoolBalance[] {
  const booked = new Map<string, number>();
  const physical = new Map<string, number>();
  for (const { account, gpuSeconds } of postings)
    booked.set(account.pool, (booked.get(account.pool) ?? 0) + gpuSeconds);
  for (const { pool, physicalGpuSeconds } of poolHours)
    physical.set(pool, (physical.get(pool) ?? 0) + physicalGpuSeconds);
  return [...new Set([...physical.keys(), ...booked.keys()])].map((pool) => {
    const bookedGpuSeconds = booked.get(pool) ?? 0;
    const physicalGpuSeconds = physical.get(pool) ?? 0;
    const larger = Math.max(bookedGpuSeconds, physicalGpuSeconds);
    const relativeDifference = larger > 0 ? Math.abs(bookedGpuSeconds - physicalGpuSeconds) / larger : 0;
    return { pool, bookedGpuSeconds, physicalGpuSeconds, relativeDifference };
  });
}

/** One problem for each pool whose postings do not add up to its physical GPUs. */
export function openBooks(step: AccruedTime): readonly Problem[] {
  return balancePools(step)
    .filter(({ relativeDifference }) => !(relativeDifference < closedWithin))
    .map(({ pool, bookedGpuSeconds, physicalGpuSeconds }) => ({
      source: "accounts",
      code: "books-do-not-close",
      severity: "error",
      subject: pool,
      message: `${bookedGpuSeconds} GPU-seconds are booked in pool ${pool} over the last step of ${step.interval.seconds} s, and its cards make ${physicalGpuSeconds}`,
      nextStep: "This is a fault in Fairlead: please report it with the output of fairlead inspect --output json.",
    }));
}

/** What is booked in a pool over a step in one currency, and what its nodes cost in that time. */
export interface CostBalance {
  readonly pool: string;
  readonly currency: string;
  readonly bookedCost: number;
  readonly nodeCost: number;
  /** |booked - nodes| over the larger of them; 0 where both are 0. */
  readonly relativeDifference: number;
}

interface CostSum {
  readonly pool: string;
  readonly currency: string;
  bookedCost: number;
  nodeCost: number;
}

/** Compares the cost of the postings of a step with the prices of the nodes that were there at its begin, times its seconds. */
export function balanceCosts(
  { postings, interval }: AccruedTime,
  snapshot: Snapshot,
  prices: Prices,
): readonly CostBalance[] {
  if (interval.gap !== null) return [];
  const sums: CostSum[] = [];
  const ofPool = new Map<string, CostSum>();
  // Most pools have one currency: the others are looked for.
  const sumOf = (pool: string, currency: string): CostSum => {
    const first = ofPool.get(pool);
    if (first?.currency === currency) return first;
    const known = sums.find((sum) => sum.pool === pool && sum.currency === currency);
    if (known !== undefined) return known;
    const sum = { pool, currency, bookedCost: 0, nodeCost: 0 };
    sums.push(sum);
    if (first === undefined) ofPool.set(pool, sum);
    return sum;
  };
  for (const { account, cost } of postings) {
    if (cost !== null) sumOf(account.pool, account.currency ?? "").bookedCost += cost;
  }
  for (const { pool, currency, costPerHour } of costsByPool(snapshot, prices))
    sumOf(pool, currency).nodeCost += (costPerHour * interval.seconds) / secondsPerHour;
  return sums.map((sum) => {
    const larger = Math.max(sum.bookedCost, sum.nodeCost);
    const relativeDifference = larger > 0 ? Math.abs(sum.bookedCost - sum.nodeCost) / larger : 0;
    return { ...sum, relativeDifference };
  });
}

/** One problem for each pool and currency in which states x price is not node price x time. */
export function openCosts(step: AccruedTime, snapshot: Snapshot, prices: Prices): readonly Problem[] {
  return balanceCosts(step, snapshot, prices)
    .filter(({ relativeDifference }) => !(relativeDifference < closedWithin))
    .map(({ pool, currency, bookedCost, nodeCost }) => ({
      source: "accounts",
      code: "costs-do-not-close",
      severity: "error",
      subject: pool,
      message: `${bookedCost} ${currency} are booked in pool ${pool} over the last step of ${step.interval.seconds} s, and its nodes cost ${nodeCost}`,
      nextStep: "This is a fault in Fairlead: please report it with the output of fairlead inspect --output json.",
    }));
}

/** Names the node on which the book by device and the book by pod differ most; nothing while they agree. */
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
      message: `on node ${node.name}, ${shownGpus(node.heldByDevices)} GPUs are held by its devices and ${shownGpus(node.heldByPods)} by its pods${others}`,
      nextStep:
        "The other problems of this node say which source is not believed; the books follow its devices until both agree.",
    },
  ];
}
