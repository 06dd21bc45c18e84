import { parseTimeStamp } from "../kernel/isoTime.ts";
import type { TextMap } from "../model/node.ts";
import { checkpointAnnotations } from "../model/wellKnown.ts";

const none: readonly number[] = [];

/**
 * The times at which the work was saved, as a pod, its owners and its queue object (`ofQueueObject`) report them: seconds since
 * the epoch, the latest first. Times in the future are among them, since they may pass.
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

/** The latest checkpoint that is not after `now`; `null` if there is none. */
export function lastCheckpoint(checkpoints: readonly number[], now: number): number | null {
  if (checkpoints.length === 0) return null;
  return checkpoints.find((at) => at <= now) ?? null;
}
