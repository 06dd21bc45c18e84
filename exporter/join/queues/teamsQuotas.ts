import { bareRecord } from "../../kernel/bareRecord.ts";
import type { ResourceAmounts } from "../../model/node.ts";
import type { ResourceQuota } from "../../model/queues/queueObjects.ts";

/** Caps on GPU resources by namespace: all of its ResourceQuotas apply, so that the smallest amount counts. */
export function hardByNamespace(
  quotas: readonly ResourceQuota[],
  isGpu: (resource: string) => boolean,
): Map<string, ResourceAmounts> {
  const found = new Map<string, Record<string, number>>();
  for (const { namespace, hard } of quotas) {
    for (const [resource, amount] of Object.entries(hard)) {
      if (!isGpu(resource)) continue;
      const caps = found.get(namespace) ?? bareRecord<number>();
      found.set(namespace, caps);
      caps[resource] = Math.min(caps[resource] ?? Infinity, amount);
    }
  }
  return found;
}
