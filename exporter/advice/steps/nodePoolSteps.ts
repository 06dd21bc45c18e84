import type { NodePoolView } from "../../join/snapshot.ts";
import { guardedPatch, queueTarget, setAt } from "./queuePatch.ts";
import { allSteps, noSteps, type PatchOperation, type StepsFound } from "./step.ts";

/** Why Karpenter keeps empty nodes: `consolidateAfter` is Never, or these budgets (indices) let none go. */
export type KeptBy = "never" | readonly number[];

/**
 * Lets Karpenter remove empty nodes of a NodePool after this many minutes, and no other nodes: nodes on which something runs
 * stay as safe as they were. Checked against the CRD of v1 (`spec.disruption`); budgets of v1beta1 have no reasons.
 */
export function removeEmptyNodes({ name, karpenter }: NodePoolView, by: KeptBy, afterMinutes: number): StepsFound {
  if (karpenter === undefined || karpenter === null) return noSteps(`NodePool ${name} could not be read`);
  const at = ["spec", "disruption"] as const;
  const operations: PatchOperation[] = [];
  const before: PatchOperation[] = [];
  if (by === "never") {
    before.push({ op: "test", at: [...at, "consolidateAfter"], value: "Never" });
    operations.push(setAt([...at, "consolidateAfter"], `${Math.ceil(afterMinutes)}m`));
    if (karpenter.consolidationPolicy !== "WhenEmpty")
      operations.push(setAt([...at, "consolidationPolicy"], "WhenEmpty"));
  } else {
    if (karpenter.revision?.apiVersion.endsWith("/v1beta1") === true)
      return noSteps("its budgets have no reasons before karpenter.sh/v1: change them where the NodePool comes from");
    // From the last one on, so that indices do not shift.
    for (const index of [...by].sort((a, b) => b - a)) {
      const budget = karpenter.budgets?.[index];
      if (budget === undefined) return noSteps(`NodePool ${name} has other budgets now`);
      const place = [...at, "budgets", index] as const;
      before.push({ op: "test", at: [...place, "nodes"], value: budget.nodes });
      const others = budget.reasons.length === 0 ? [...otherReasons] : budget.reasons.filter((one) => one !== "Empty");
      operations.push(
        others.length === 0 ? { op: "remove", at: place } : { op: "add", at: [...place, "reasons"], value: others },
      );
    }
  }
  const target = queueTarget("NodePool", karpenter, { apiVersion: "karpenter.sh/v1", resource: "nodepools" });
  const title = `Let Karpenter remove empty nodes of NodePool ${name}`;
  const owned = "Nobody wants its empty nodes kept: nodes that are, are to be labelled (idle.warmPools).";
  const step = guardedPatch(target, title, operations, before, owned);
  const waitFor = "Its empty nodes are gone. Karpenter adds nodes again when waiting pods need them.";
  return allSteps([step === null ? null : { ...step, waitFor }]);
}

/** Reasons for which Karpenter disrupts nodes, but for `Empty`. */
const otherReasons = ["Drifted", "Underutilized"] as const;
