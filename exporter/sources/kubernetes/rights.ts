/**
 * What an installation may be allowed to read besides what every installation must read: the part of the role that goes with a
 * scheduler, an autoscaler or a kind of workload that not every cluster has. Each kind names the right that it needs. Each is
 * a value of the Helm chart, `rbac.optional.NAME`.
 */
export type OptionalRight =
  | "dynamicResourceAllocation"
  | "kueue"
  | "kai"
  | "volcano"
  | "karpenter"
  | "autoscalers"
  | "volumes"
  | "workloads"
  | "monitors";

/** A resource as RBAC's own messages name it: `pods`, `jobs.batch`. */
export function resourceName(group: string, resource: string): string {
  return group === "" ? resource : `${resource}.${group}`;
}

/** What to do where the API server says "forbidden"; `name` as of `resourceName`. */
export function grantStep(verbs: string, name: string, right: OptionalRight | null): string {
  const how =
    right === null
      ? "the ClusterRole that comes with it does, so install that again"
      : `the Helm value rbac.optional.${right}=true does ("auto" only looks when the chart is installed or upgraded)`;
  return `Grant ${verbs} on ${name} to Fairlead's service account: ${how}.`;
}
