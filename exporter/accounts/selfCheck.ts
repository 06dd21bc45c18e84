import { shownGpus } from "../join/shownGpus.ts";
import type { Snapshot } from "../join/snapshot.ts";
import type { Problem } from "../model/problem.ts";
import { imbalancedNodes } from "./inventory.ts";
import type { AccruedTime } from "./posting.ts";

/** Relative difference below which the books of a pool count as closed: what is lost in adding up. */
const closedWithin = 1e-9;

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
