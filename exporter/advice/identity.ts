import { createHash } from "node:crypto";
import type { Candidate } from "./candidate.ts";

/** The parts of advice from which its need follows; stored advice has them, too. */
export type Needed = Pick<
  Candidate,
  "kind" | "need" | "beneficiary" | "targets" | "fromTeam" | "pool" | "signs" | "measuredBy"
>;

/**
 * The id of advice. It follows from the kind and the need alone, so that it stays while targets, numbers and steps change, even
 * after a restart.
 */
export function adviceId(need: string): string {
  return `r-${createHash("sha256").update(need).digest("hex").slice(0, 10)}`;
}

/**
 * What advice is needed for, and its kind, as a text: a queue in a pool, a gang, a node, a node pool, or a team in a pool.
 * Where each workload of a team has advice of its own, the need is that workload. There is at most one plan for each need.
 */
export function needOf(advice: Needed): string {
  return JSON.stringify([advice.kind, ...(advice.need ?? partsOf(advice))]);
}

function partsOf(advice: Needed): readonly string[] {
  const { kind, beneficiary, targets, fromTeam, pool, measuredBy } = advice;
  const [first = ""] = targets;
  switch (kind) {
    case "release_idle":
      // Small parts of GPUs are released together; a workload that holds whole GPUs is asked on its own.
      return targets.length > 1 || (measuredBy.kind === "work-released" && measuredBy.gpus < wholeGpu)
        ? ["team", fromTeam, pool]
        : ["workload", first];
    case "right_size":
      return ["workload", first];
    case "fix_scheduler":
      return [...queueIn(advice), ...findingOf(advice), first];
    case "reclaim":
    case "change_quota":
      return queueIn(advice);
    case "share_gpu":
      return [beneficiary.kind, beneficiary.name, pool];
    case "unblock_gang":
    case "defragment":
    case "scale_in":
    case "drain_node":
    case "fix_source":
      return [beneficiary.kind, beneficiary.name];
  }
}

const wholeGpu = 1;

/** A queue may lack GPUs of one pool and have GPUs of another. */
const queueIn = ({ beneficiary, pool }: Needed): readonly string[] => [beneficiary.kind, beneficiary.name, pool];

const findingOf = ({ signs }: Needed): readonly string[] =>
  signs.flatMap((sign) => (sign.kind === "finding-gone" ? [sign.code] : []));

/** A key of the beneficiary: advice of another kind for the same beneficiary replaces this one. */
export function servedBy({ beneficiary, pool }: Pick<Needed, "beneficiary" | "pool">): string {
  return JSON.stringify([beneficiary.kind, beneficiary.name, pool]);
}
