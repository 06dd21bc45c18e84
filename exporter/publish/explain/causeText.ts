import type { WaitingWork } from "../../analysis/waiting/waiting.ts";

/**
 * The cause of a wait in words; with `topology` the level, whose name is untrusted text, and with `gang` whether GPUs or members
 * are missing. `unknown` without a gang.
 */
export function causeText(work: Pick<WaitingWork, "cause" | "blockingLevel" | "hasRoomForSome"> | undefined): string {
  if (work === undefined) return "unknown";
  if (work.hasRoomForSome === true) return `${work.cause}: only a part of it fits`;
  return work.blockingLevel === undefined
    ? work.cause
    : `${work.cause}: no single domain of ${work.blockingLevel} has enough`;
}
