/**
 * The rights that an installation may have besides those that every installation must have: each is the part of the role that
 * belongs to a scheduler, an autoscaler or a kind of workload that not every cluster has. Each kind names the right that it
 * needs. Each right is a value of the Helm chart, `rbac.optional.NAME`.
 */
export type OptionalRight =
  | "dynamicResourceAllocation"
  | "kueue"
  | "kai"
  | "volcano"
  | "coscheduling"
  | "karpenter"
  | "autoscalers"
  | "volumes"
  | "workloads"
  | "monitors";

/** The name of a resource in the form of RBAC's own messages: `pods`, `jobs.batch`. */
export function resourceName(group: string, resource: string): string {
  return group === "" ? resource : `${resource}.${group}`;
}

/** What to do where the API server answers "forbidden"; `name` is that of `resourceName`. */
export function grantStep(verbs: string, name: string, right: OptionalRight | null): string {
  const how =
    right === null
      ? "the ClusterRole that comes with it does, so install that again"
      : `the Helm value rbac.optional.${right}=true does ("auto" only looks when the chart is installed or upgraded)`;
  return `Grant ${verbs} on ${name} to Fairlead's service account: ${how}.`;
}
