import { askGuards, type GuardQuestion, type GuardVeto } from "../../../exporter/advice/guards/guards.ts";
import type { AdviceMoment } from "../../../exporter/advice/moment.ts";
import { nothingWatched } from "../../../exporter/advice/usage/usageWatch.ts";
import { analyse, analysisSettings } from "../../../exporter/analysis/analyse.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import type { PodView, Snapshot, WorkloadView } from "../../../exporter/join/snapshot.ts";
import type { PodDisruptionBudget } from "../../../exporter/model/cluster.ts";
import type { OwnerRef } from "../../../exporter/model/pod.ts";
import { device, holding, moment, nodeView, podView } from "../../analysis/momentBuilder.ts";

export const job: OwnerRef = { apiVersion: "batch/v1", kind: "Job", name: "train", uid: "uid-train" };
export const replicaSet: OwnerRef = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "serve-1", uid: "uid-serve" };

/** A workload with these pods. */
export function workloadView(parts: Partial<WorkloadView> = {}): WorkloadView {
  return {
    kind: "Deployment",
    namespace: "research",
    name: "serve",
    team: "vision",
    owner: null,
    queue: null,
    localQueue: null,
    priorityClass: "none",
    priority: 0,
    workloadClass: "serving",
    createdAt: null,
    gang: null,
    ownerUids: [],
    owners: [],
    job: null,
    queueObject: null,
    progressUnits: null,
    pods: [0],
    ...parts,
  };
}

/** A moment with one node; each pod holds one GPU of it, belongs to a ReplicaSet and may be taken unless it says otherwise. */
export function guardMoment(pods: readonly Partial<PodView>[], parts: Partial<Snapshot> = {}): AdviceMoment {
  const views = pods.map((pod, i) => podView({ uid: `uid-${i}`, name: `pod-${i}`, owner: replicaSet, ...pod }));
  const devices = views.map((_, pod) => device({ uuid: `GPU-${pod}`, holders: [holding({ pod })] }));
  const node = nodeView({
    devices: devices.map((_, i) => i),
    physicalGpus: devices.length,
    allocatableGpus: devices.length,
  });
  const snapshot = moment({
    nodes: [node],
    devices,
    pods: views,
    workloads: [workloadView({ pods: views.map((_, i) => i) })],
    ...parts,
  });
  return {
    analysis: analyse(snapshot, analysisSettings(defaultConfig)),
    settings: defaultConfig.advice,
    usage: nothingWatched,
  };
}

/** What speaks against moving the pods for work of priority 100, or against another question. */
export function vetoesOf(moment: AdviceMoment, question: Partial<GuardQuestion> = {}): readonly GuardVeto[] {
  return askGuards(moment, {
    pods: moment.analysis.snapshot.pods.map((_, i) => i),
    how: "move",
    beneficiary: { priority: 100, queue: null },
    ...question,
  }).vetoes;
}

/** Names of the guards that speak against it, each once. */
export const guardsOf = (moment: AdviceMoment, question: Partial<GuardQuestion> = {}): readonly string[] => [
  ...new Set(vetoesOf(moment, question).map(({ guard }) => guard)),
];

/** A budget for all pods of `research` that allows so many disruptions. */
export function budget(disruptionsAllowed: number | null, parts: Partial<PodDisruptionBudget> = {}) {
  const whole: PodDisruptionBudget = {
    namespace: "research",
    name: "serving",
    matchLabels: {},
    matchExpressions: [],
    disruptionsAllowed,
    ...parts,
  };
  return whole;
}
