import { parseTimeStamp } from "../kernel/isoTime.ts";
import type { TextMap } from "../model/node.ts";
import { checkpointAnnotations } from "../model/wellKnown.ts";

const none: readonly number[] = [];

/**
 * When a pod, its owners and its queue object (`ofQueueObject`) say that the work was saved, seconds since the epoch, latest
 * first; times in the future among them, since they may pass.
 */
export function checkpointsOf(
  objects: readonly { readonly annotations: TextMap }[],
  ofQueueObject: number | null,
): readonly number[] {
  let found: number[] | null = null;
  if (ofQueueObject !== null) found = [ofQueueObject];
  for (const { annotations } of objects) {
    for (const name of checkpointAnnotations) {
      const text = annotations[name];
      const at = text === undefined ? null : parseTimeStamp(text);
      if (at === null) continue;
      found ??= [];
      found.push(at);
    }
  }
  return found?.sort((a, b) => b - a) ?? none;
}

/** The latest that is not after `now`; `null` without one. */
export function lastCheckpoint(checkpoints: readonly number[], now: number): number | null {
  if (checkpoints.length === 0) return null;
  return checkpoints.find((at) => at <= now) ?? null;
}
