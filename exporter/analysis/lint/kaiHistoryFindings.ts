import type { Snapshot } from "../../join/snapshot.ts";
import type { KaiSchedulingShard } from "../../model/queues/kai.ts";
import type { UsageHistory } from "../fairness/fairness.ts";
import type { Finding } from "./finding.ts";

/** The longest half-life that Fairlead's configuration accepts: over a window of days it has the effect of no decay. */
const longestHalfLifeSeconds = 31_536_000;

/**
 * Shards that share what is above quotas by past use (time-based fairshare) while the entitlement shown here does not consider
 * past use. With a `kValue` of 0, past use does not count (KAI-Scheduler, proportion plugin, resource_division: w' + k (w' -
 * u)).
 */
export function kaiHistoryFindings({ queueObjects }: Snapshot, history: UsageHistory | null): readonly Finding[] {
  if (history !== null) return [];
  const { kaiQueues, kaiSchedulingShards } = queueObjects;
  const served = new Set(kaiQueues.map(({ nodePool }) => nodePool ?? ""));
  return kaiSchedulingShards.flatMap((shard): readonly Finding[] =>
    shard.usage !== null && shard.kValue !== 0 && served.has(shard.partitionLabelValue ?? "")
      ? [historyIgnored(shard.name, shard.kValue ?? 1, shard.usage)]
      : [],
  );
}

function historyIgnored(
  name: string,
  kValue: number,
  { windowSeconds, windowType, halfLifeSeconds }: NonNullable<KaiSchedulingShard["usage"]>,
): Finding {
  const decay = halfLifeSeconds === null ? "no half-life" : `a half-life of ${halfLifeSeconds} s`;
  const halfLife =
    halfLifeSeconds === null
      ? `halfLifeSeconds: ${longestHalfLifeSeconds} (this shard does not let use decay)`
      : `halfLifeSeconds: ${halfLifeSeconds}`;
  return {
    code: "kai-history-ignored",
    scheduler: "kai",
    kind: "SchedulingShard",
    name,
    reason: `spec.usageDBConfig lets KAI share what is above quotas by past use (a ${windowType} window of ${windowSeconds} s with ${decay}, kValue ${kValue}), but no history goes into the entitlement shown here: a queue that used much of late may look short where KAI holds it back on purpose, and one that used little may look as if it had too much.`,
    change: `Set queues.history in Fairlead's configuration to enabled: true, windowSeconds: ${windowSeconds}, ${halfLife} and kValue: ${kValue}; past use counts from then on.`,
  };
}
