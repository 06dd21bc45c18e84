import { type AnalysisSettings, analyse, analysisSettings } from "../../exporter/analysis/analyse.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { type Joined, type JoinSettings, join } from "../../exporter/join/join.ts";
import { changedHolding } from "../../exporter/join/joinedDevice.ts";
import { emptyMemory, type Memory } from "../../exporter/join/memory.ts";
import type { Holding, NodeView, PodView, Snapshot } from "../../exporter/join/snapshot.ts";
import type { ClusterState } from "../../exporter/model/cluster.ts";
import type { GpuState } from "../../exporter/model/gpuStates.ts";
import { cluster, now } from "./clusterBuilder.ts";

export const defaultSettings: JoinSettings = configSchema.parse({});

/** The default settings with some of those of `gpu` changed. */
export function withGpu(gpu: Partial<JoinSettings["gpu"]>): JoinSettings {
  return { ...defaultSettings, gpu: { ...defaultSettings.gpu, ...gpu } };
}

export function joined(
  parts: Partial<ClusterState>,
  settings: JoinSettings = defaultSettings,
  memory: Memory = emptyMemory,
  at: number = now,
): Joined {
  return join(cluster(parts), memory, settings, at);
}

export function snapshotOf(parts: Partial<ClusterState>, settings: JoinSettings = defaultSettings): Snapshot {
  return joined(parts, settings).snapshot;
}

export const stateSettings: AnalysisSettings = analysisSettings(configSchema.parse({}));

export function analysed(snapshot: Snapshot): Analysis {
  return analyse(snapshot, stateSettings);
}

/** A node of a snapshot; the test fails when it is not there. */
export function nodeOf(snapshot: Snapshot, name: string): NodeView {
  const found = snapshot.nodes.find((view) => view.name === name);
  if (found === undefined) throw new Error(`no node ${name}`);
  return found;
}

export function podOf(snapshot: Snapshot, name: string): PodView {
  const found = snapshot.pods.find((view) => view.name === name);
  if (found === undefined) throw new Error(`no pod ${name}`);
  return found;
}

/** What a pod holds, with the UUID (and instance) of each device. */
export function holdingsOf(snapshot: Snapshot, podName: string): readonly (Holding & { readonly on: string | null })[] {
  return snapshot.devices.flatMap((device) =>
    device.holders
      .filter((holding) => snapshot.pods[holding.pod]?.name === podName)
      .map((holding) => ({
        ...changedHolding(holding, {}),
        on: device.gpuInstance === null ? device.uuid : `${device.uuid}/${device.gpuInstance}`,
      })),
  );
}

/** Physical GPUs that a pod holds in all. */
export function allocatedBy(snapshot: Snapshot, podName: string): number {
  return holdingsOf(snapshot, podName).reduce((sum, holding) => sum + holding.share, 0);
}

/** Counted GPUs by state, of everything or of one pod. */
export function statesOf(snapshot: Snapshot, podName?: string): Partial<Record<GpuState, number>> {
  const states: Partial<Record<GpuState, number>> = {};
  for (const accountingEntry of analysed(snapshot).accountingEntries.list) {
    const name = accountingEntry.pod === null ? undefined : snapshot.pods[accountingEntry.pod]?.name;
    if (podName !== undefined && name !== podName) continue;
    states[accountingEntry.state] = (states[accountingEntry.state] ?? 0) + accountingEntry.gpus;
  }
  return states;
}

export function codes(snapshot: Snapshot): readonly string[] {
  return [...new Set(snapshot.problems.map((problem) => problem.code))].sort();
}
