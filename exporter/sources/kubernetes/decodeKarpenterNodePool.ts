import { type CapacityType, capacityTypes } from "../../model/capacityType.ts";
import type { KarpenterNodePool, NodePoolBudget } from "../../model/nodePools.ts";
import { nodeLabels } from "../../model/wellKnown.ts";
import { amountMap, duration, nameText, revisionOf, shortText, someItems } from "./boundedFields.ts";
import { type Decoded, decodeObject } from "./decoded.ts";
import { child, number, type Place, text, textItems } from "./fields.ts";

/** The API allows no more budgets for one NodePool, and no longer schedule of a budget. */
const mostBudgets = 50;
const longestSchedule = 256;

/** What is kept of the values of one requirement. */
const mostValues = 64;

/**
 * A NodePool of Karpenter (`karpenter.sh`, checked against the CRDs of v1.15 and of v1beta1). In v1beta1 the policies were
 * `WhenEmpty` and `WhenUnderutilized`, and `consolidateAfter` belonged to the former alone: without it, consolidation
 * begins at once.
 */
export function decodeKarpenterNodePool(value: unknown): Decoded<KarpenterNodePool> {
  return decodeObject("NodePool", value, (object, meta) => {
    const spec = child(object, "spec");
    const disruption = child(spec, "disruption");
    const consolidationPolicy = nameText(disruption, "consolidationPolicy");
    return {
      name: meta.name,
      limits: amountMap(spec, "limits"),
      consolidationPolicy,
      consolidateAfterSeconds: consolidateAfter(disruption, consolidationPolicy),
      budgets: someItems(disruption, "budgets", mostBudgets).map(budgetOf),
      capacityTypes: allowedTypes(child(child(spec, "template"), "spec")),
      replicas: number(spec, "replicas"),
      revision: revisionOf(object),
    };
  });
}

/** `nodes` is 10% where nobody sets it. */
function budgetOf(budget: Place): NodePoolBudget {
  const nodes = shortText(budget, "nodes", 16);
  return {
    nodes: nodes === "" ? "10%" : nodes,
    reasons: textItems(budget, "reasons").slice(0, mostValues),
    schedule: shortText(budget, "schedule", longestSchedule),
  };
}

/** `null`: never, or the object has no policy. */
function consolidateAfter(disruption: Place, policy: string): number | null {
  if (text(disruption, "consolidateAfter") === "Never") return null;
  return duration(disruption, "consolidateAfter") ?? (policy === "" ? null : 0);
}

/** What is left after all requirements on the capacity type, which may be none of them; `null` where they exclude none. */
function allowedTypes(template: Place): readonly CapacityType[] | null {
  let allowed: readonly CapacityType[] = capacityTypes;
  for (const requirement of someItems(template, "requirements")) {
    if (text(requirement, "key") !== nodeLabels.karpenterCapacityType) continue;
    const operator = text(requirement, "operator");
    const values: ReadonlySet<string> = new Set(textItems(requirement, "values").slice(0, mostValues));
    if (operator === "In") allowed = allowed.filter((type) => values.has(type));
    if (operator === "NotIn") allowed = allowed.filter((type) => !values.has(type));
  }
  return allowed.length === capacityTypes.length ? null : allowed;
}
