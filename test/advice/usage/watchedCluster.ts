import type { AdviceMoment, AdviceSettings } from "../../../exporter/advice/moment.ts";
import { nothingWatched, type UsageWatch, watchUsage } from "../../../exporter/advice/usage/usageWatch.ts";
import { analyse } from "../../../exporter/analysis/analyse.ts";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { configSchema } from "../../../exporter/config/schema.ts";
import { emptyMemory, type Memory } from "../../../exporter/join/memory.ts";
import type { ClusterState, OwnerObject } from "../../../exporter/model/cluster.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import type { DeviceReading, TelemetryPage } from "../../../exporter/model/telemetry.ts";
import { gibibyte, gpuPod, now, owner, ownerRef, page, reading } from "../../join/clusterBuilder.ts";
import { defaultSettings, joined, stateSettings } from "../../join/outcomes.ts";

export const hour = 3600;

export const adviceSettings: AdviceSettings = configSchema.parse({}).advice;

/** A Deployment of a batch kind: idle after half an hour, and its template can be changed. */
export function deployment(name: string, parts: Partial<OwnerObject> = {}): OwnerObject {
  return owner("Deployment", name, null, {
    apiVersion: "apps/v1",
    labels: { "fairlead.dev/workload-class": "batch" },
    ...parts,
  });
}

/** The ReplicaSet between a Deployment and its pods. */
export const replicaSet = (of: OwnerObject): OwnerObject =>
  owner("ReplicaSet", `${of.name}-5d9`, of, { apiVersion: "apps/v1", namespace: of.namespace });

/** A running pod of a Deployment with whole GPUs. */
export function podOf(
  of: OwnerObject,
  name: string,
  nodeName: string | null,
  gpus: number,
  parts: Partial<Pod> = {},
): Pod {
  const { gpu: _gpu, ...rest } = parts;
  return gpuPod(name, nodeName, gpus, { owner: ownerRef(replicaSet(of)), namespace: of.namespace, ...rest });
}

/** A GPU that a pod of `research` holds, with this activity and part of 80 GiB of memory in use. */
export function physicalGpu(
  uuid: string,
  activity: number,
  podName?: string,
  memoryRatio: number | null = 0.1,
): DeviceReading {
  const named = podName === undefined ? reading(uuid, activity) : reading(uuid, activity, podName);
  if (memoryRatio === null) return named;
  return { ...named, memoryUsedBytes: memoryRatio * 80 * gibibyte, memoryTotalBytes: 80 * gibibyte };
}

/** The page of a node at a time. */
export const pageAt = (node: string, devices: readonly DeviceReading[], at = now): TelemetryPage =>
  page(node, devices, { receivedAt: at });

/** What a cluster says at a time; `idleSince` by `node/UUID`. */
export function analysisAt(parts: Partial<ClusterState>, at = now, memory: Partial<Memory> = {}): Analysis {
  return analyse(joined(parts, defaultSettings, { ...emptyMemory, ...memory }, at).snapshot, stateSettings);
}

/** The watch of a cluster that was the same at each of these times. */
export function watchedAt(times: readonly number[], stateAt: (at: number) => Partial<ClusterState>): UsageWatch {
  return times.reduce((watch, at) => watchUsage(watch, analysisAt(stateAt(at), at)), nothingWatched);
}

/** Times from `hours` before now until now, every half hour: the longest that a watch goes on without a look. */
export function everyHalfHour(hours: number): readonly number[] {
  return Array.from({ length: hours * 2 + 1 }, (_, i) => now - hours * hour + i * 1800);
}

/** A cluster that was watched for so many hours until now. */
export function watchedMoment(
  stateAt: (at: number) => Partial<ClusterState>,
  hours = 12,
  settings: Partial<AdviceSettings> = {},
): AdviceMoment {
  return momentOf(analysisAt(stateAt(now)), watchedAt(everyHalfHour(hours), stateAt), settings);
}

export function momentOf(
  analysis: Analysis,
  usage: UsageWatch = nothingWatched,
  settings: Partial<AdviceSettings> = {},
): AdviceMoment {
  return { analysis, usage, settings: { ...adviceSettings, ...settings } };
}
