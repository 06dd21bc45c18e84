import type { Pod } from "../model/pod.ts";
import type { Problem } from "../model/problem.ts";

/** How many pods are named; the rest are counted. */
const named = 3;

/** One problem for all pods with GPUs whose labels are too many to be kept. */
export function labelProblems(pods: readonly Pod[]): readonly Problem[] {
  const cut = pods.filter(({ labelsLeftOut }) => labelsLeftOut === true);
  if (cut.length === 0) return [];
  const names = cut.map(({ namespace, name }) => `${namespace}/${name}`).sort();
  const more = names.length > named ? ` and ${names.length - named} more` : "";
  const first = `${names.slice(0, named).join(", ")}${more}`;
  return [
    {
      source: "join",
      code: "labels-left-out",
      severity: "warning",
      subject: names[0] ?? null,
      message: `${first} ${cut.length === 1 ? "has" : "have"} more labels than are kept (48, and 4,096 characters): those that Fairlead reads by name are, of the others the first`,
      nextStep:
        "Move what no selector asks for into annotations. Nothing is advised that moves these pods, because nobody knows which budgets take them.",
    },
  ];
}
