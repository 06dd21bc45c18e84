import type { AlertingRule, RecordingRule, RuleGroup } from "../ruleGroups.ts";

/** `PrometheusRule` of `monitoring.coreos.com/v1`, as the Prometheus Operator reads it. */
export interface PrometheusRule {
  readonly apiVersion: "monitoring.coreos.com/v1";
  readonly kind: "PrometheusRule";
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly groups: readonly RuleGroup<RecordingRule | AlertingRule>[] };
}

/** Rules as one object; a label such as `release` may have to be added, by which the operator selects rules. */
export function prometheusRule(groups: readonly RuleGroup<RecordingRule | AlertingRule>[]): PrometheusRule {
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name: "fairlead", labels: { "app.kubernetes.io/name": "fairlead" } },
    spec: { groups },
  };
}
