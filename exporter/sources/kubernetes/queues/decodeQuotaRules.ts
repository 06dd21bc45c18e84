import { bareRecord } from "../../../kernel/bareRecord.ts";
import type { ResourceAmounts } from "../../../model/node.ts";
import type { LimitRange, ResourceQuota } from "../../../model/queues/queueObjects.ts";
import { amountMap, someItems } from "../boundedFields.ts";
import { type Decoded, decodeObject } from "../decoded.ts";
import { child, type Place, text } from "../fields.ts";

/** The prefix of requests. Quotas of extended resources can only limit requests. */
const prefix = "requests.";

/** A ResourceQuota (`v1`) as a model record: its amounts of extended resources, which GPUs are. */
export function decodeResourceQuota(value: unknown): Decoded<ResourceQuota> {
  return decodeObject("ResourceQuota", value, (object, meta) => ({
    namespace: meta.namespace,
    name: meta.name,
    hard: requested(child(object, "spec"), "hard"),
    used: requested(child(object, "status"), "used"),
  }));
}

function requested(place: Place, key: string): ResourceAmounts {
  const found = amountMap(place, key, (name) => name.startsWith(prefix) && name.includes("/"));
  const amounts = bareRecord<number>();
  for (const [name, amount] of Object.entries(found)) amounts[name.slice(prefix.length)] = amount;
  return amounts;
}

/** A LimitRange (`v1`) as a model record: its rules about extended resources, which GPUs are, per container and per pod. */
export function decodeLimitRange(value: unknown): Decoded<LimitRange> {
  return decodeObject("LimitRange", value, (object, meta) => ({
    namespace: meta.namespace,
    name: meta.name,
    limits: someItems(child(object, "spec"), "limits").flatMap(readItem),
  }));
}

function readItem(item: Place): LimitRange["limits"] {
  const type = text(item, "type");
  if (type !== "Container" && type !== "Pod") return [];
  const max = extended(item, "max");
  const defaults = type === "Pod" ? {} : { ...extended(item, "default"), ...extended(item, "defaultRequest") };
  return Object.keys(max).length + Object.keys(defaults).length === 0 ? [] : [{ type, max, defaults }];
}

const extended = (item: Place, key: string) => amountMap(item, key, (name) => name.includes("/"));
