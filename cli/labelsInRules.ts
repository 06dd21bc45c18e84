import type { Config } from "../exporter/config/schema.ts";

/** Labels of pods that the configuration names: those of team rules, the owner, and the node pool that KAI's queues go by. */
export function labelsInRules({
  teams,
  queues,
  digest,
}: Pick<Config, "teams" | "queues" | "digest">): readonly string[] {
  const keys = teams.flatMap((rule) => (rule.from === "pod-label" || rule.from === "workload-label" ? [rule.key] : []));
  return [...keys, ...(digest.owner === undefined ? [] : [digest.owner.label]), queues.kai.nodePoolLabel];
}
