import type { PodDisruptionBudget } from "../../model/cluster.ts";
import { type Decoded, decodeObject } from "./decoded.ts";
import { child, has, items, number, text, textItems } from "./fields.ts";
import { textMap, wholeLabels } from "./textMap.ts";

/**
 * A PodDisruptionBudget (`policy/v1`) as a model record. An empty selector selects every pod of the namespace; a
 * budget without a selector selects none, which is kept as an expression that no pod meets.
 */
export function decodePodDisruptionBudget(value: unknown): Decoded<PodDisruptionBudget> {
  return decodeObject("PodDisruptionBudget", value, (object, meta) => {
    const spec = child(object, "spec");
    const selector = child(spec, "selector");
    const status = child(object, "status");
    const expressions = items(selector, "matchExpressions").map((expression) => ({
      key: text(expression, "key") ?? "",
      operator: text(expression, "operator") ?? "",
      values: textItems(expression, "values"),
    }));
    return {
      namespace: meta.namespace,
      name: meta.name,
      matchLabels: textMap(selector, "matchLabels", wholeLabels),
      matchExpressions: has(spec, "selector") ? expressions : [selectsNothing],
      // The API fills the field with 0 until the controller has looked at the budget once.
      disruptionsAllowed: has(status, "observedGeneration") ? number(status, "disruptionsAllowed") : null,
    };
  });
}

const selectsNothing = { key: "", operator: "In", values: [] } as const;
