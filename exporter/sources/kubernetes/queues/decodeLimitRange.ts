import type { LimitRange } from "../../../model/queues/queueObjects.ts";
import { type Decoded, decodeObject } from "../decoded.ts";
import { child, type Place, text } from "../fields.ts";
import { amountMap, someItems } from "./bounds.ts";

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
