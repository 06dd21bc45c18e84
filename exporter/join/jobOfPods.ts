import type { JobLimits } from "../model/disruption.ts";
import type { OwnerChain } from "./workloadOf.ts";

/** Limits of the Job that controls a pod; `null` where no Job does, or it could not be read. */
export function controllingJob({ owners }: OwnerChain): JobLimits | null {
  return owners[0]?.job ?? null;
}

const worstFirst: readonly JobLimits["onDisruption"][] = ["FailJob", "FailIndex", "Count", "Ignore"];

/**
 * Of two Jobs of one workload (a JobSet has several) the one that the loss of a pod would sooner end, whatever their order;
 * `null` where one is not known.
 */
export function moreEndangered(one: JobLimits | null, other: JobLimits | null): JobLimits | null {
  if (one === other) return one;
  if (one === null || other === null) return null;
  return byDanger(one, other) <= 0 ? one : other;
}

function byDanger(a: JobLimits, b: JobLimits): number {
  return (
    worstFirst.indexOf(a.onDisruption) - worstFirst.indexOf(b.onDisruption) ||
    left(a) - left(b) ||
    b.failed - a.failed ||
    Number(b.isSuspended) - Number(a.isSuspended)
  );
}

/** Pods that it may still lose. Where that is not known, none. */
const left = ({ backoffLimit, failed }: JobLimits): number =>
  backoffLimit === null ? Number.NEGATIVE_INFINITY : backoffLimit - failed;
