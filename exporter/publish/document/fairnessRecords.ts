import type { QueueFairness } from "../../analysis/fairness/fairness.ts";
import type { QueueView, QuotaDomain } from "../../join/queues/queueing.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { AbsentOwner } from "../../model/shortfall.ts";
import type { DomainRecord, QueueRecord } from "./schema.ts";

/** What a queue misses, by cause; `null` where its entitlement cannot be reported. */
export function shortfallRecord(
  fairness: QueueFairness | null,
): Pick<
  QueueRecord,
  | "shortfall"
  | "shortfallByBorrowers"
  | "shortfallByIdleGap"
  | "shortfallByAbsentCapacity"
  | "shortfallByIndivisible"
  | "actionableShortfall"
  | "heldBackBy"
> {
  return {
    shortfall: fairness?.shortfall ?? null,
    shortfallByBorrowers: fairness?.shortfallByBorrowers ?? null,
    shortfallByIdleGap: fairness?.shortfallByIdleGap ?? null,
    shortfallByAbsentCapacity: fairness === null ? null : byOwner(fairness.shortfallByAbsentCapacity),
    shortfallByIndivisible: fairness?.shortfallByIndivisible ?? null,
    actionableShortfall: fairness?.actionableShortfall ?? null,
    heldBackBy: fairness?.heldBackBy ?? null,
  };
}

/** Amounts by owner; those of nothing are left out. */
export function byOwner(
  amounts: readonly { readonly owner: AbsentOwner; readonly gpus: number }[],
): Partial<Record<AbsentOwner, number>> {
  return Object.fromEntries(amounts.filter(({ gpus }) => gpus > 0).map(({ owner, gpus }) => [owner, gpus]));
}

/** The node classes of a domain; of one that is not divided, itself. */
export function domainClasses({
  name,
  classes,
  capacity,
  allocatedOnUnschedulable,
}: QuotaDomain): DomainRecord["nodeClasses"] {
  if (classes !== undefined) return classes.map((one) => ({ nodeClass: one.name, capacity: one.capacity }));
  return [{ nodeClass: name, capacity: capacity - allocatedOnUnschedulable }];
}

/** In which node classes a leaf holds or may hold anything, on nodes that take pods; of inner queues nothing. */
export function queueClasses(
  { isLeaf, allocated, allocatedOnUnschedulable, allocatedByClass }: QueueView,
  domain: QuotaDomain | undefined,
  { nodeClasses, entitled }: QueueFairness,
): QueueRecord["nodeClasses"] {
  if (nodeClasses !== undefined) return nodeClasses.map((one) => ({ ...one }));
  if (!isLeaf || domain === undefined) return [];
  const here =
    domain.classes === undefined
      ? [
          {
            nodeClass: domain.name,
            allocated: allocated - allocatedOnUnschedulable,
            entitled: entitled - allocatedOnUnschedulable,
          },
        ]
      : // What no queue answers for is entitled to what it holds, where it holds it.
        domain.classes.map(({ name }, i) => {
          const own = allocatedByClass?.[i];
          const amount = own === undefined ? 0 : own.allocated - own.allocatedOnUnschedulable;
          return { nodeClass: name, allocated: amount, entitled: amount };
        });
  return here
    .map(({ nodeClass, ...amounts }) => ({
      nodeClass,
      allocated: Math.max(0, amounts.allocated),
      entitled: Math.max(0, amounts.entitled),
    }))
    .filter((one) => Math.max(one.allocated, one.entitled) > gpuTolerance);
}
