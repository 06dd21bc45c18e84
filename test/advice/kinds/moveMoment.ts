import type { DisruptionUnit } from "../../../exporter/advice/disruptionUnits.ts";
import type { AdviceMoment } from "../../../exporter/advice/moment.ts";
import { nothingWatched } from "../../../exporter/advice/usage/usageWatch.ts";
import { analyse, analysisSettings } from "../../../exporter/analysis/analyse.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import type { WaitingGang } from "../../../exporter/join/queues/queueing.ts";
import { noQueueing } from "../../../exporter/join/queues/queueing.ts";
import type { Device, NodeView, PodView, Snapshot, WorkloadView } from "../../../exporter/join/snapshot.ts";
import type { OwnerRef } from "../../../exporter/model/pod.ts";
import { device, holding, moment, nodeView, podView } from "../../analysis/momentBuilder.ts";
import { leaf, part, waitingGang } from "../../analysis/waiting/waitingBuilder.ts";
import { now } from "../../join/clusterBuilder.ts";
import { podNeeds } from "../../queues/kueueRows.ts";
import { quotaDomain } from "../../queues/queueView.ts";
import { workloadView } from "../guards/guardMoment.ts";

/** A node and its GPUs. */
export interface MoveNode extends Partial<NodeView> {
  readonly name: string;
  readonly gpus: number;
}

/** A pod that holds whole GPUs of its node, or one that waits. */
export interface MovePod extends Partial<PodView> {
  readonly name: string;
  readonly node: string | null;
  readonly gpus: number;
  /** Name of its workload; without it, one of its own. */
  readonly of?: string;
  /** Kind of its owner; default: a ReplicaSet. */
  readonly ownerKind?: "ReplicaSet" | "Job" | null;
  readonly hours?: number;
  readonly estimated?: boolean;
}

export interface MoveCluster {
  readonly nodes: readonly MoveNode[];
  readonly pods: readonly MovePod[];
  readonly waiting?: readonly WaitingGang[];
  readonly parts?: Partial<Snapshot>;
  readonly limit?: number;
  readonly maxMoves?: number;
}

const needsOf = new Map<number, PodView["needs"]>();

const needsFor = (gpus: number): PodView["needs"] => {
  const needs = needsOf.get(gpus) ?? podNeeds({ "nvidia.com/gpu": gpus });
  needsOf.set(gpus, needs);
  return needs;
};

/** Work that has waited for two hours, of pods with whole GPUs. */
export function wants(name: string, pods: number, gpus: number, parts: Partial<WaitingGang> = {}): WaitingGang {
  const base = { namespace: "vision", name, uid: `uid-${name}`, priority: 100, since: now - 7200, ...parts };
  return waitingGang([part(pods, gpus)], base);
}

/** One pool of nodes; what waits has been blocked for long. */
export function moveMoment({
  nodes,
  pods,
  waiting = [],
  parts = {},
  limit = Infinity,
  maxMoves = 5,
}: MoveCluster): AdviceMoment {
  const devices: Device[] = [];
  const views = nodes.map(({ gpus, ...rest }): NodeView => {
    const indexes = Array.from(
      { length: gpus },
      (_, i) => devices.push(device({ node: rest.name, uuid: `${rest.name}-${i}` })) - 1,
    );
    return nodeView({ physicalGpus: gpus, allocatableGpus: gpus, ...rest, devices: indexes });
  });
  const names = [...new Set(pods.map((pod) => pod.of ?? pod.name))];
  const podViews = pods.map((pod, index): PodView => {
    const { of, ownerKind = "ReplicaSet", hours = 1, estimated = false, ...rest } = pod;
    const allocated = views.find(({ name }) => name === pod.node)?.devices ?? [];
    const free = allocated.filter((one) => devices[one]?.holders.length === 0).slice(0, pod.gpus);
    if (pod.node !== null && free.length < pod.gpus) throw new Error(`${pod.node} has no place for ${pod.name}`);
    for (const one of free) {
      const found = devices[one];
      if (found !== undefined)
        devices[one] = { ...found, holders: [holding({ pod: index, estimated, ...standing(pod) })] };
    }
    return podView({
      uid: `uid-${pod.name}`,
      namespace: "ads",
      team: "ads",
      workload: names.indexOf(of ?? pod.name),
      needs: needsFor(pod.gpus),
      owner: ownerKind === null ? null : ownerOf(ownerKind, of ?? pod.name),
      status: pod.node === null ? "pending" : "allocated",
      boundAt: pod.node === null ? null : now - hours * 3600,
      pendingSince: pod.node === null ? now - hours * 3600 : null,
      ...rest,
    });
  });
  const workloads = names.map((name, index): WorkloadView => {
    const own = podViews.flatMap((pod, i) => (pod.workload === index ? [i] : []));
    const first = podViews[own[0] ?? -1];
    const kind = first?.owner?.kind === "Job" ? "Job" : "Deployment";
    const owner = first?.owner ?? null;
    return workloadView({
      kind,
      name,
      namespace: first?.namespace ?? "ads",
      team: first?.team ?? "ads",
      pods: own,
      priority: first?.priority ?? 0,
      owners: owner === null ? [] : [owner],
      gang: first?.gang ?? null,
      queue: first?.queue ?? null,
      job: kind === "Job" ? { backoffLimit: 6, failed: 0, onDisruption: "Count", isSuspended: false } : null,
    });
  });
  const domains = [quotaDomain({ capacity: devices.length })];
  const queues = [leaf({ gangs: waiting.map((_, i) => i), limit })];
  const snapshot = moment({
    nodes: views,
    devices,
    pods: podViews,
    workloads,
    requestsByNode: new Map(),
    queueing: { ...noQueueing, domains, queues, gangs: waiting },
    ...parts,
  });
  const settings = analysisSettings(defaultConfig);
  const first = analyse({ ...snapshot, at: snapshot.at - 3600 }, settings);
  const analysis = analyse(snapshot, { ...settings, blockedSince: first.blocked.since });
  return { analysis, settings: { ...defaultConfig.advice, maxMoves }, usage: nothingWatched };
}

/** Members of a gang that is not whole do nothing. */
const standing = ({ gang }: MovePod) =>
  (gang?.partialSince ?? null) === null ? {} : { activity: 0, idleSince: gang?.partialSince ?? null };

const ownerOf = (kind: "ReplicaSet" | "Job", name: string): OwnerRef => ({
  apiVersion: kind === "Job" ? "batch/v1" : "apps/v1",
  kind,
  name,
  uid: `uid-owner-${name}`,
});

/** A unit of these pods alone, for what the moment itself would not put together. */
export const unitOf = (pods: readonly number[], parts: Partial<DisruptionUnit> = {}): DisruptionUnit => ({
  pods,
  workload: 0,
  isGang: false,
  gpus: pods.length,
  lostGpuHours: 1,
  isUpperBound: false,
  ...parts,
});
