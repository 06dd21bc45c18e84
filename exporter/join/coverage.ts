import type { ClusterState, ObjectKind } from "../model/cluster.ts";
import type { Pod } from "../model/pod.ts";
import type { Problem } from "../model/problem.ts";

const meaning: Readonly<Partial<Record<ObjectKind, string>>> = {
  nodes: "the devices on telemetry pages are taken as the GPUs",
  pods: "pod labels on telemetry pages are taken as the holdings",
  namespaces: "team rules that read namespaces do not match",
};

/** One line for each missing part of the data, with what is used instead. */
export function coverageProblems(state: ClusterState): readonly Problem[] {
  const problems: Problem[] = [...labelProblems(state.pods)];
  for (const kind of ["nodes", "pods", "namespaces"] as const) {
    if (!state.known.has(kind)) problems.push(missing(kind, meaning[kind] ?? ""));
  }
  for (const kind of ["resourceClaims", "resourceSlices"] as const) {
    if (!state.known.has(kind) && usesClaims(state)) problems.push(missing(kind, "what claims hold is not known"));
  }
  if (state.telemetry.length === 0) {
    problems.push({
      source: "join",
      code: "no-telemetry",
      severity: "warning",
      subject: null,
      message: "no telemetry page was read: every GPU is unobserved",
      nextStep: "Check that dcgm-exporter runs and is found (dcgm.discovery), or give its pages to inspect.",
    });
  }
  return problems;
}

/** How many pods are named; the rest are counted. */
const named = 3;

/** One problem for all pods with GPUs that have too many labels to be kept. */
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

function usesClaims({ pods }: ClusterState): boolean {
  return pods.some((pod) => pod.gpu.claims.length > 0 || pod.gpu.extendedResourceClaim !== null);
}

function missing(kind: ObjectKind, instead: string): Problem {
  return {
    source: "join",
    code: "objects-missing",
    severity: "warning",
    subject: kind,
    message: `no ${kind} were read from the Kubernetes API: ${instead}`,
    nextStep: `Let Fairlead list ${kind.toLowerCase()}, or add \`kubectl get ${kind.toLowerCase()} -A -o json\` to the dump.`,
  };
}
