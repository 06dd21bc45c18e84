import type { NodePoolView, NodeView } from "../join/snapshot.ts";
import { countWords, durationWords } from "./kinds/words.ts";

/** What happens to an empty node of a node pool, as far as the settings of its autoscaler show. */
export type EmptyNodes =
  /** Its autoscaler removes it after this time. */
  | { readonly kind: "removed"; readonly afterSeconds: number; readonly words: string }
  /** Its NodePool never lets an empty node go: `consolidateAfter` is Never, or these budgets (indices) of 0 always hold. */
  | { readonly kind: "kept"; readonly by: "never" | readonly number[]; readonly words: string }
  /** Its NodePool removes it outside the hours of a budget of 0. */
  | { readonly kind: "at-times"; readonly words: string }
  /** Nobody removes it by itself, or this is not known. */
  | { readonly kind: "unknown" };

/** `--scale-down-unneeded-time` of the Cluster Autoscaler if it is not set. */
const unneededSeconds = 600;

/** What the autoscaler of a node pool does with an empty node. */
export function emptyNodesOf(pool: NodePoolView): EmptyNodes {
  if (pool.manager === "cluster-autoscaler") {
    if (pool.minNodes === null || pool.nodes <= pool.minNodes) return { kind: "unknown" };
    const words = `the Cluster Autoscaler removes an empty node after ${durationWords(unneededSeconds)} (scale-down-unneeded-time, where nothing else is set)`;
    return { kind: "removed", afterSeconds: unneededSeconds, words };
  }
  if (pool.manager !== "karpenter" || pool.consolidationPolicy === null) return { kind: "unknown" };
  const { name, consolidationPolicy, consolidateAfterSeconds, karpenter } = pool;
  if (consolidateAfterSeconds === null)
    return { kind: "kept", by: "never", words: `NodePool ${name} has consolidateAfter: Never` };
  const closed = (karpenter?.budgets ?? []).flatMap((budget, index) =>
    /^0+%?$/.test(budget.nodes) && (budget.reasons.length === 0 || budget.reasons.includes("Empty"))
      ? [{ index, isAlways: budget.schedule === "" }]
      : [],
  );
  const always = closed.flatMap(({ index, isAlways }) => (isAlways ? [index] : []));
  if (always.length > 0)
    return {
      kind: "kept",
      by: always,
      words: `NodePool ${name} has ${countWords(always.length, "disruption budget")} of 0 nodes that always ${always.length === 1 ? "holds" : "hold"}`,
    };
  if (closed.length > 0)
    return { kind: "at-times", words: `NodePool ${name} has a disruption budget of 0 nodes with a schedule` };
  const words = `Karpenter removes an empty node of NodePool ${name} after ${durationWords(consolidateAfterSeconds)} (${consolidationPolicy})`;
  return { kind: "removed", afterSeconds: consolidateAfterSeconds, words };
}

const daySeconds = 86_400;

/** Whether an autoscaler removes a node within a day of its being empty, when it has removed `before` others of its pool. */
export function removesEmptyNode(pool: NodePoolView, { keptBy }: NodeView, before = 0): boolean {
  const empty = emptyNodesOf(pool);
  if (empty.kind !== "removed" || empty.afterSeconds > daySeconds || keptBy !== undefined) return false;
  return pool.nodes - before > (pool.minNodes ?? 0);
}
