import { bareRecord } from "../../../kernel/bareRecord.ts";
import type { ResourceAmounts } from "../../../model/node.ts";
import type { ResourceQuota } from "../../../model/queues/queueObjects.ts";
import { type Decoded, decodeObject } from "../decoded.ts";
import { child, type Place } from "../fields.ts";
import { amountMap } from "./bounds.ts";

/** Extended resources are counted by requests alone. */
const prefix = "requests.";

/** A ResourceQuota (`v1`) as a model record: its extended resources, which GPUs are. */
export function decodeResourceQuota(value: unknown): Decoded<ResourceQuota> {
  return decodeObject("ResourceQuota", value, (object, meta) => ({
    namespace: meta.namespace,
    name: meta.name,
    hard: extended(child(object, "spec"), "hard"),
    used: extended(child(object, "status"), "used"),
  }));
}

function extended(place: Place, key: string): ResourceAmounts {
  const found = amountMap(place, key, (name) => name.startsWith(prefix) && name.includes("/"));
  const amounts = bareRecord<number>();
  for (const [name, amount] of Object.entries(found)) amounts[name.slice(prefix.length)] = amount;
  return amounts;
}
