import type { WaitingWork } from "../../analysis/waiting/waiting.ts";

/** The cause of a wait in words; with `topology` the level, whose name is untrusted text. `unknown` without a gang. */
export function causeText(work: Pick<WaitingWork, "cause" | "blockingLevel"> | undefined): string {
  if (work === undefined) return "unknown";
  return work.blockingLevel === undefined
    ? work.cause
    : `${work.cause}: no single domain of ${work.blockingLevel} has enough`;
}
