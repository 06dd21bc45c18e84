import type { ClusterState, ObjectKind } from "../model/cluster.ts";
import type { Problem } from "../model/problem.ts";
import { labelProblems } from "./labelProblems.ts";

const meaning: Readonly<Partial<Record<ObjectKind, string>>> = {
  nodes: "the devices on telemetry pages stand for the GPUs",
  pods: "pod labels on telemetry pages stand for the holdings",
  namespaces: "team rules that read namespaces do not match",
};

/** One line for each part of the picture that is missing, saying what stands in for it. */
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
