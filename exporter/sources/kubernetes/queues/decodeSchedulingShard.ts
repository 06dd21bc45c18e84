import type { KaiSchedulingShard } from "../../../model/queues/kai.ts";
import { type Decoded, decodeObject } from "../decoded.ts";
import { child, has, number, type Place } from "../fields.ts";
import { nameText, optionalName } from "./bounds.ts";
import { duration } from "./duration.ts";

/** Defaults of KAI's usage database: one week, sliding. */
const defaultWindowSeconds = 604_800;
const defaultWindowType = "sliding";
const defaultKValue = 1;

/** A SchedulingShard (`kai.scheduler/v1`) as a model record. */
export function decodeSchedulingShard(value: unknown): Decoded<KaiSchedulingShard> {
  return decodeObject("SchedulingShard", value, (object, meta) => {
    const spec = child(object, "spec");
    const usage = usageOf(spec);
    return {
      name: meta.name,
      partitionLabelValue: optionalName(spec, "partitionLabelValue"),
      kValue: number(spec, "kValue") ?? (usage === null ? null : defaultKValue),
      usage,
      createdAt: meta.createdAt,
    };
  });
}

/** Without a kind of client there is no usage database. */
function usageOf(spec: Place): KaiSchedulingShard["usage"] {
  const config = child(spec, "usageDBConfig");
  if (nameText(config, "clientType") === "") return null;
  const params = child(config, "usageParams");
  const halfLife = duration(params, "halfLifePeriod") ?? 0;
  return {
    windowSeconds: has(params, "windowSize") ? (duration(params, "windowSize") ?? 0) : defaultWindowSeconds,
    windowType: optionalName(params, "windowType") ?? defaultWindowType,
    halfLifeSeconds: halfLife > 0 ? halfLife : null,
  };
}
