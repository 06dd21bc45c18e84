import type { Config } from "../../exporter/config/schema.ts";
import { isRecord } from "../../exporter/kernel/parseJson.ts";
import type { AutoscalerNodeGroup } from "../../exporter/model/nodePools.ts";
import type { Problem } from "../../exporter/model/problem.ts";
import { type SchedulerSettings, unknownSchedulerSettings } from "../../exporter/model/queues/queueObjects.ts";
import { readAutoscalerStatus } from "../../exporter/sources/kubernetes/autoscalerStatus.ts";
import type { ConfigMapReading } from "../../exporter/sources/kubernetes/configMapReading.ts";
import {
  readKueueSettings,
  readVolcanoSettings,
  settingsKeys,
} from "../../exporter/sources/kubernetes/queues/schedulerSettings.ts";
import type { DumpObject } from "./readObjects.ts";

/**
 * Collects what the ConfigMaps of a dump contain about schedulers and the Cluster Autoscaler. The ConfigMaps are those that the
 * configuration names, and those with a known key or name.
 */
export interface DumpSettings {
  /** Looks at one ConfigMap; all others are passed over. */
  take(configMap: DumpObject["value"], path: string): void;
  settings(): SchedulerSettings;
  autoscalerNodeGroups(): readonly AutoscalerNodeGroup[];
}

/** The name under which the Cluster Autoscaler itself writes its status. */
const autoscalerStatusName = "cluster-autoscaler-status";

export function createDumpSettings(
  { queues, clusterAutoscaler }: Pick<Config, "queues" | "clusterAutoscaler">,
  problems: Problem[],
): DumpSettings {
  const { plugin } = queues.volcano;
  let found: SchedulerSettings = unknownSchedulerSettings;
  let groups: readonly AutoscalerNodeGroup[] = [];

  const readingOf = <Settings>(reading: ConfigMapReading<Settings>, path: string, name: string): Settings | null => {
    if (reading.odd !== null) problems.push(oddSettings(path, name, reading.odd));
    return reading.settings;
  };

  return {
    take: ({ metadata, data }, path) => {
      if (!isRecord(metadata) || !isRecord(data)) return;
      const { name, namespace } = metadata;
      if (typeof name !== "string") return;
      const isNamed = (place: { readonly namespace: string; readonly name: string } | undefined): boolean =>
        place !== undefined && place.name === name && place.namespace === namespace;
      if (isNamed(queues.kueue.configMap) || Object.hasOwn(data, settingsKeys.kueue)) {
        const kueue = readingOf(readKueueSettings(data), path, name);
        found = { ...found, kueue: kueue ?? found.kueue };
      }
      if (isNamed(queues.volcano.configMap) || Object.hasOwn(data, settingsKeys.volcano)) {
        const volcano = readingOf(readVolcanoSettings(data), path, name);
        found = { ...found, volcano: volcano ?? found.volcano };
      }
      if (isNamed(clusterAutoscaler.statusConfigMap) || name === autoscalerStatusName) {
        groups = readingOf(readAutoscalerStatus(data), path, name) ?? groups;
      }
    },
    autoscalerNodeGroups: () => groups,
    settings: () => (plugin === "auto" ? found : { ...found, volcano: { plugin } }),
  };
}

function oddSettings(path: string, name: string, found: string): Problem {
  return {
    source: "inspect",
    code: "scheduler-settings",
    severity: "warning",
    subject: path,
    message: `${path}: ConfigMap ${name} ${found}`,
    nextStep:
      "Correct the ConfigMap or leave it out of the dump; what Volcano does can be said in queues.volcano.plugin.",
  };
}
