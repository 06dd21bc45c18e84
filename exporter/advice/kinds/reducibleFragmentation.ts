import type { EffectMeasures } from "../../model/recommendation.ts";
import type { Candidate } from "../candidate.ts";
import type { Outcome } from "../whatIf/trial.ts";

/** A plan that was tried, under each placement rule. */
export interface TriedPlan {
  readonly candidate: Pick<Candidate, "kind" | "pool">;
  readonly before: Pick<EffectMeasures, "expectedFragmentation">;
  readonly outcomes: readonly { readonly measures: Pick<Outcome["measures"], "expectedFragmentation"> }[];
}

/**
 * Physical GPUs by which the expected fragmentation of a pool would fall after the best plan found within the move budget,
 * under both placement rules: expected fragmentation now minus that after the plan, at least 0. A pool without any plan is
 * left out. Pure.
 */
export function reducibleFragmentation(tried: readonly TriedPlan[]): ReadonlyMap<string, number> {
  const byPool = new Map<string, number>();
  for (const { candidate, before, outcomes } of tried) {
    if (candidate.kind !== "defragment" || candidate.pool === "" || outcomes.length === 0) continue;
    const after = Math.max(...outcomes.map(({ measures }) => measures.expectedFragmentation));
    const reduced = Math.max(0, before.expectedFragmentation - after);
    byPool.set(candidate.pool, Math.max(byPool.get(candidate.pool) ?? 0, reduced));
  }
  return byPool;
}
