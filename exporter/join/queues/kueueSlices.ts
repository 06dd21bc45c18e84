import type { KueueWorkload } from "../../model/queues/kueue.ts";
import { isFinished } from "./kueueReserved.ts";

/**
 * Workloads of elastic jobs (kueue v0.19 pkg/workloadslicing): a job that scales up has a second Workload, with all its pods,
 * that takes the place of the first as soon as it has quota. Kueue reserves for it only what is more than the first one has.
 */
export interface KueueSlices {
  /** The Workload with quota that this one without quota is to replace: it asks only for the growth. `null`: none. */
  readonly grownFrom: (workload: KueueWorkload) => KueueWorkload | null;
  /** A larger one of the same job with quota replaces it: it holds nothing any more, and is about to end. */
  readonly isReplaced: (workload: KueueWorkload) => boolean;
  /** No Workload replaces another: nothing above needs to be asked. */
  readonly isEmpty: boolean;
}

/** Finds which Workloads replace which. */
export function kueueSlices(workloads: readonly KueueWorkload[]): KueueSlices {
  const larger = workloads.filter(({ replaces }) => replaces !== undefined).filter(isOpen);
  if (larger.length === 0) return noSlices;
  const replaced = new Set(larger.map(({ replaces }) => replaces));
  const smaller = new Map<string | undefined, KueueWorkload>();
  for (const workload of workloads)
    if (replaced.has(keyOf(workload)) && isOpen(workload)) smaller.set(keyOf(workload), workload);
  const gone = new Set<KueueWorkload>();
  for (const workload of larger) {
    const old = smaller.get(workload.replaces);
    if (workload.admission !== null && old?.namespace === workload.namespace) gone.add(old);
  }
  return {
    grownFrom: (workload) => {
      if (workload.replaces === undefined || workload.admission !== null) return null;
      const old = smaller.get(workload.replaces);
      return old === undefined || old.admission === null || old.namespace !== workload.namespace ? null : old;
    },
    isReplaced: (workload) => gone.has(workload),
    isEmpty: false,
  };
}

const noSlices: KueueSlices = { grownFrom: () => null, isReplaced: () => false, isEmpty: true };

const keyOf = ({ namespace, name }: KueueWorkload): string => `${namespace}/${name}`;

const isOpen = (workload: KueueWorkload): boolean => !isFinished(workload);
