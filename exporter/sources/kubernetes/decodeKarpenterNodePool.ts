import { type CapacityType, capacityTypes } from "../../model/capacityType.ts";
import type { KarpenterNodePool, NodePoolBudget } from "../../model/nodePools.ts";
import { nodeLabels } from "../../model/wellKnown.ts";
import { amountMap, duration, nameText, revisionOf, shortText, someItems } from "./boundedFields.ts";
import { type Decoded, decodeObject } from "./decoded.ts";
import { child, number, type Place, text, textItems } from "./fields.ts";

/** The API allows no more budgets for one NodePool, and no longer schedule of a budget. */
const mostBudgets = 50;
const longestSchedule = 256;

/** The greatest number of values of one requirement that are kept. */
const mostValues = 64;

/**
 * A NodePool of Karpenter (`karpenter.sh`, checked against the CRDs of v1.15 and of v1beta1). In v1beta1 the policies were
 * `WhenEmpty` and `WhenUnderutilized`, and only the former had `consolidateAfter`: without it, consolidation begins
 * immediately.
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

/** A disruption budget; its `nodes` are 10% where the object does not set them. */
function budgetOf(budget: Place): NodePoolBudget {
  const nodes = shortText(budget, "nodes", 16);
  return {
    nodes: nodes === "" ? "10%" : nodes,
    reasons: textItems(budget, "reasons").slice(0, mostValues),
    schedule: shortText(budget, "schedule", longestSchedule),
  };
}

/** The time after which nodes are consolidated, in seconds; `null` if that is never, or if the object has no policy. */
function consolidateAfter(disruption: Place, policy: string): number | null {
  if (text(disruption, "consolidateAfter") === "Never") return null;
  return duration(disruption, "consolidateAfter") ?? (policy === "" ? null : 0);
}

/** The capacity types that remain after all requirements, which may be none; `null` where no requirement excludes any. */
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
