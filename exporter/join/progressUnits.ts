import type { Pod } from "../model/pod.ts";
import { ownAnnotations } from "../model/wellKnown.ts";
import type { OwnerChain } from "./workloadOf.ts";

/** Longer texts and larger numbers are no valid progress. */
const maxChars = 32;
const maxUnits = 1e15;

const decimal = /^\d+(\.\d+)?(e\+?\d+)?$/i;

/** How many units of progress an annotation reports; `null` if it is absent, or anything but a decimal number from 0 on. */
export function parseProgressUnits(text: string | undefined): number | null {
  if (text === undefined || text.length > maxChars || !decimal.test(text)) return null;
  const units = Number(text);
  return units <= maxUnits ? units : null;
}

/** Units of progress of a pod's workload as its owners report them, the top one first, or else the pod itself. */
export function progressUnitsOf(pod: Pod, { owners }: OwnerChain): number | null {
  for (let i = owners.length - 1; i >= 0; i--) {
    const reported = parseProgressUnits(owners[i]?.annotations[ownAnnotations.progressUnits]);
    if (reported !== null) return reported;
  }
  return parseProgressUnits(pod.annotations[ownAnnotations.progressUnits]);
}

/** The larger one; `null` where neither is known. */
export function largerUnits(one: number | null, other: number | null): number | null {
  return one === null || (other !== null && other > one) ? other : one;
}
