import type { KaiSchedulingShard } from "../../model/queues/kai.ts";
import type { PoolFacts } from "./queueSystem.ts";

/** One scheduler of KAI. The nodes, queues and pod groups with its value of the node-pool label belong to it. */
export interface KaiShard {
  /** Its value of the label; `default` without one, empty where one scheduler has everything. */
  readonly name: string;
  /** Whether an object with this value of the label belongs to it; `null`: the object has no such label. */
  readonly owns: (nodePool: string | null) => boolean;
  /** Pools with a node that belongs to it. */
  readonly pools: readonly string[];
}

/**
 * The shards of a cluster. A shard without a value owns what does not have the label (KAI selects by `DoesNotExist`); without
 * any SchedulingShard one scheduler owns everything.
 */
export function kaiShards(
  shards: readonly Pick<KaiSchedulingShard, "partitionLabelValue">[],
  pools: readonly PoolFacts[],
  nodePoolLabel: string,
): readonly KaiShard[] {
  if (shards.length === 0) return [{ name: "", owns: () => true, pools: pools.map(({ pool }) => pool) }];
  const values = new Set(shards.map((shard) => (shard.partitionLabelValue === "" ? null : shard.partitionLabelValue)));
  return [...values]
    .sort((a, b) => ((a ?? "") < (b ?? "") ? -1 : 1))
    .map((value) => ({
      name: value ?? "default",
      owns: (nodePool) => nodePool === value,
      pools: pools
        .filter(({ nodes }) => nodes.some((node) => (node.labels[nodePoolLabel] ?? null) === value))
        .map(({ pool }) => pool),
    }));
}
