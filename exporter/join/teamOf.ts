import type { TeamRule } from "../config/schema.ts";
import { matchesPattern } from "../kernel/namePattern.ts";
import type { Namespace } from "../model/cluster.ts";
import type { TextMap } from "../model/node.ts";

/** The team of work that no rule matches. */
export const unassigned = "unassigned";

/** The facts that a team rule can use. */
export interface TeamEvidence {
  readonly namespace: string;
  /** `undefined` where namespaces could not be read. */
  readonly namespaceObject: Namespace | undefined;
  /** The queue that a queue system has confirmed; `null` where none has. */
  readonly queue: string | null;
  /** The queue that the pod or an owner names, confirmed or not; `null` where none does. */
  readonly namedQueue: string | null;
  readonly podLabels: TextMap;
  readonly workloadLabels: TextMap;
}

/** Kubernetes label values are at most 63 characters; annotations may be longer, team names may not. */
const longestTeam = 100;

/** The team of a workload: the first rule that yields a value decides. */
export function teamOf(rules: readonly TeamRule[], evidence: TeamEvidence): string {
  for (const rule of rules) {
    const team = teamByRule(rule, evidence)?.trim();
    if (team !== undefined && team !== "") return team.slice(0, longestTeam);
  }
  return unassigned;
}

function teamByRule(rule: TeamRule, evidence: TeamEvidence): string | undefined {
  switch (rule.from) {
    case "namespace-label":
      return evidence.namespaceObject?.labels[rule.key];
    case "namespace-annotation":
      return evidence.namespaceObject?.annotations[rule.key];
    case "queue":
      if (rule.allowed === undefined) return evidence.queue ?? undefined;
      return allowedValue(rule.allowed, evidence.namespace, evidence.queue ?? evidence.namedQueue ?? undefined);
    case "namespace":
      return evidence.namespace;
    case "namespace-pattern":
      return matchesPattern(rule.pattern, evidence.namespace) ? rule.team : undefined;
    case "pod-label":
    case "workload-label": {
      const labels = rule.from === "pod-label" ? evidence.podLabels : evidence.workloadLabels;
      return allowedValue(rule.allowed, evidence.namespace, labels[rule.key]);
    }
  }
}

/** An author's own label could bill anyone: it counts only where the configuration allows that value. */
function allowedValue(
  allowed: Extract<TeamRule, { from: "pod-label" | "workload-label" }>["allowed"],
  namespace: string,
  value: string | undefined,
): string | undefined {
  const counts = allowed.some(
    (one) => value !== undefined && matchesPattern(one.namespace, namespace) && one.teams.includes(value),
  );
  return counts ? value : undefined;
}
