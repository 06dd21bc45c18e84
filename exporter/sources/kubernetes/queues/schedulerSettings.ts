import { parse } from "yaml";
import { bareRecord } from "../../../kernel/bareRecord.ts";
import { isRecord, type JsonRecord } from "../../../kernel/parseJson.ts";
import { parseDuration } from "../../../kernel/quantity.ts";
import type { ResourceAmounts } from "../../../model/node.ts";
import { type SchedulerSettings, unknownSchedulerSettings } from "../../../model/queues/queueObjects.ts";
import type { ApiClient } from "../apiClient.ts";
import type { Clock } from "../clock.ts";
import {
  type ConfigMapPlace,
  type ConfigMapReader,
  type ConfigMapReading,
  createConfigMapReader,
} from "../configMapReading.ts";

/** The places of the settings of schedulers; settings that are not listed are not read. */
export interface SettingsPlaces {
  readonly kueue?: ConfigMapPlace;
  /** A ConfigMap, or the name of a plugin, with which no ConfigMap is needed. */
  readonly volcano?: ConfigMapPlace | "proportion" | "capacity";
}

/** Reads the settings of schedulers from the ConfigMaps that the configuration names, and from no others. */
export function createSchedulerSettings(
  client: ApiClient,
  clock: Clock,
  places: SettingsPlaces,
): Omit<ConfigMapReader<SchedulerSettings>, "read"> & { read(): SchedulerSettings } {
  const namedBy = (scheduler: keyof SettingsPlaces, place: ConfigMapPlace) =>
    ({ place, setting: `queues.${scheduler}.configMap`, code: "scheduler-settings" }) as const;
  const kueue =
    places.kueue === undefined
      ? null
      : createConfigMapReader(client, clock, namedBy("kueue", places.kueue), readKueueSettings);
  const volcano =
    typeof places.volcano === "object"
      ? createConfigMapReader(client, clock, namedBy("volcano", places.volcano), readVolcanoSettings)
      : null;
  const plugin = typeof places.volcano === "string" ? { plugin: places.volcano } : null;
  const readers = [kueue, volcano].filter((reader) => reader !== null);
  return {
    start: async () => {
      await Promise.all(readers.map((reader) => reader.start()));
    },
    stop: async () => {
      await Promise.all(readers.map((reader) => reader.stop()));
    },
    read: () => {
      const found = { kueue: kueue?.read() ?? null, volcano: plugin ?? volcano?.read() ?? null };
      return found.kueue === null && found.volcano === null ? unknownSchedulerSettings : found;
    },
    problems: () => readers.flatMap((reader) => reader.problems()),
  };
}

export type KueueSettings = NonNullable<SchedulerSettings["kueue"]>;
export type VolcanoSettings = NonNullable<SchedulerSettings["volcano"]>;

/** Keys under which the schedulers' own manifests keep their configuration. */
export const settingsKeys = { kueue: "controller_manager_config.yaml", volcano: "volcano-scheduler.conf" } as const;

/** The interval of Kueue's samples if none is set. */
const defaultSamplingSeconds = 300;
const maxChars = 1024 * 1024;
const maxWeights = 256;

/**
 * Reads Kueue's Configuration (`config.kueue.x-k8s.io`). In v1beta2 fair sharing is on where its section is present, in v1beta1
 * by its `enable`. A half-life that is not set is 0, which keeps all usage of admission fair sharing at 0.
 */
export function readKueueSettings(data: JsonRecord): ConfigMapReading<KueueSettings> {
  const text = textUnder(data, settingsKeys.kueue, ".yaml");
  if (text === null) return { settings: null, odd: `has no key ${settingsKeys.kueue}` };
  const document = parseYaml(text);
  if (document === null || document.kind !== "Configuration") {
    return { settings: null, odd: `has no Configuration of Kueue under ${settingsKeys.kueue}` };
  }
  const { fairSharing, admissionFairSharing, featureGates } = document;
  const isV1beta1 = typeof document.apiVersion === "string" && document.apiVersion.endsWith("/v1beta1");
  return {
    settings: {
      fairSharing: isRecord(fairSharing) && (!isV1beta1 || fairSharing.enable === true),
      admissionFairSharing: isRecord(admissionFairSharing) ? admissionSettings(admissionFairSharing) : null,
      // Kueue takes gates from its Configuration or from its flags, not from both.
      ...(isRecord(featureGates) && Object.keys(featureGates).length > 0
        ? { priorityBoost: featureGates.PriorityBoost === true }
        : {}),
    },
    odd: null,
  };
}

function admissionSettings(section: JsonRecord): NonNullable<KueueSettings["admissionFairSharing"]> {
  const sampling = parseDuration(section.usageSamplingInterval) ?? 0;
  return {
    halfLifeSeconds: parseDuration(section.usageHalfLifeTime) ?? 0,
    samplingIntervalSeconds: sampling > 0 ? sampling : defaultSamplingSeconds,
    resourceWeights: weights(section.resourceWeights),
  };
}

function weights(found: unknown): ResourceAmounts {
  const copy = bareRecord<number>();
  if (!isRecord(found)) return copy;
  for (const [name, weight] of Object.entries(found).slice(0, maxWeights)) {
    const amount = typeof weight === "string" && weight.trim() !== "" ? Number(weight) : weight;
    if (name !== "__proto__" && typeof amount === "number" && Number.isFinite(amount)) copy[name] = amount;
  }
  return copy;
}

/** Reads the scheduler's configuration of Volcano: the plugin of any tier that gives queues their share. */
export function readVolcanoSettings(data: JsonRecord): ConfigMapReading<VolcanoSettings> {
  const text = textUnder(data, settingsKeys.volcano, ".conf");
  if (text === null) return { settings: null, odd: `has no key ${settingsKeys.volcano}` };
  const document = parseYaml(text);
  if (document === null || !Array.isArray(document.tiers)) {
    return { settings: null, odd: `has no scheduler configuration with tiers under ${settingsKeys.volcano}` };
  }
  const tiers: readonly unknown[] = document.tiers;
  const plugins = new Set(tiers.flatMap(pluginsOf));
  const [hasCapacity, hasProportion] = [plugins.has("capacity"), plugins.has("proportion")];
  if (!hasCapacity && !hasProportion) {
    return { settings: null, odd: "names neither the plugin capacity nor proportion, so that no queue gets a share" };
  }
  return {
    settings: { plugin: hasCapacity ? "capacity" : "proportion" },
    odd: hasCapacity && hasProportion ? "names both capacity and proportion, of which Volcano allows one" : null,
  };
}

function pluginsOf(tier: unknown): readonly string[] {
  if (!isRecord(tier) || !Array.isArray(tier.plugins)) return [];
  const plugins: readonly unknown[] = tier.plugins;
  return plugins.flatMap((plugin) => (isRecord(plugin) && typeof plugin.name === "string" ? [plugin.name] : []));
}

/** The text under a key, else under the only key with that ending: administrators may choose another name. */
function textUnder(data: JsonRecord, key: string, ending: string): string | null {
  const exact = Object.hasOwn(data, key) ? data[key] : undefined;
  if (typeof exact === "string") return exact;
  const others = Object.keys(data).filter((name) => name.endsWith(ending));
  const [only] = others;
  const found = others.length === 1 && only !== undefined ? data[only] : undefined;
  return typeof found === "string" ? found : null;
}

function parseYaml(text: string): JsonRecord | null {
  if (text.length > maxChars) return null;
  try {
    const document: unknown = parse(text, { logLevel: "silent", prettyErrors: false, maxAliasCount: 100 });
    return isRecord(document) ? document : null;
  } catch {
    return null;
  }
}
