import type { Config } from "../config/schema.ts";
import type { ClusterState } from "../model/cluster.ts";
import type { Pod } from "../model/pod.ts";
import type { Problem } from "../model/problem.ts";
import { nodeLabels } from "../model/wellKnown.ts";
import { brokenProfiling, chooseSignal } from "./activity.ts";
import { coverageProblems } from "./coverage.ts";
import { finishDevices } from "./devices.ts";
import { indexDraDevices } from "./draDevices.ts";
import { findGangs } from "./gangs.ts";
import { holdDevices, type NodeLayout } from "./holdings/holdDevices.ts";
import { isReservationPod } from "./holdings/podOnNode.ts";
import type { Memory } from "./memory.ts";
import { capacityTypeOf, isReady, isSchedulable, nodePoolOf } from "./nodeFacts.ts";
import { gatherNodes, type NodeInput } from "./nodeInputs.ts";
import { pendingGpus, unknownDemand } from "./pendingGpus.ts";
import { isHolding, isPending, viewSubjects } from "./podViews.ts";
import { remember } from "./remember.ts";
import type { Device, NodeView, Snapshot } from "./snapshot.ts";
import { telemetryByNode } from "./telemetryOf.ts";

/** The settings that change what a Snapshot says. */
export type JoinSettings = Pick<Config, "cluster" | "teams" | "gpu" | "idle">;

/** What one cycle joins to, and what it must tell the next. */
export interface Joined {
  readonly snapshot: Snapshot;
  readonly memory: Memory;
}

/** How long activity without a holder is remembered, seconds (state `unattributed`). */
const unattributedSeconds = 30 * 60;

/**
 * Joins nodes, devices, holdings, workloads, teams and queues to one Snapshot. Pure: everything comes in as arguments,
 * and neither the order of the objects nor that of the pages changes the result. Every physical GPU of a counted node is
 * in exactly one device or unpartitioned part, and no part of it is held twice.
 */
export function join(state: ClusterState, memory: Memory, settings: JoinSettings, at: number): Joined {
  const knowsNodes = state.known.has("nodes");
  const telemetry = telemetryByNode(state.telemetry, knowsNodes ? new Set(state.nodes.map((n) => n.name)) : null);
  const draDevices = indexDraDevices(state.resourceSlices);
  const holding = sorted(state.pods.filter((pod) => isHolding(pod) && !isReservationPod(pod)));
  const reservations = state.pods.filter((pod) => isHolding(pod) && isReservationPod(pod));
  const boundPods = Map.groupBy(holding, (pod) => pod.nodeName ?? "");
  const nodes = [...gatherNodes(state, telemetry.byNode, draDevices, boundPods, memory, settings.gpu)].sort(byName);
  const held = holdDevices({ state, nodes, draDevices, holding, reservations, memory, settings: settings.gpu });
  const waiting = sorted(state.pods.filter((pod) => isPending(pod) && !isReservationPod(pod)));
  const gangs = findGangs(state.pods, memory.gangSince, at, memory.nodes.size === 0);
  const waitingGpus = pendingGpus(nodes);
  const subjects = viewSubjects({
    state,
    pods: [...held.pods, ...waiting],
    rules: settings.teams,
    gangs,
    gpusOf: (pod, index) =>
      pod.nodeName === null ? waitingGpus(pod) : held.partlyKnown.has(index) ? null : (held.asked.get(index) ?? null),
    pendingSince: (pod) => memory.pendingSince.get(pod.uid) ?? pod.createdAt ?? at,
    named: held.named,
  });
  const signal = chooseSignal(
    held.layouts.flatMap((l) => l.devices).flatMap((d) => d.reading ?? []),
    settings.gpu.signal,
  );
  const judged = { at, signal, idleThreshold: settings.idle.threshold, unattributedSeconds };
  const devices: Device[] = [];
  const views = held.layouts.map((layout): NodeView => {
    const finished = finishDevices(layout.devices, memory, judged);
    const first = devices.length;
    devices.push(...finished);
    return nodeView(layout, finished, first, memory, at, heldByPods(layout, held.asked, subjects.pods));
  });
  const problems: Problem[] = [
    ...state.problems,
    ...coverageProblems(state),
    ...telemetry.problems,
    ...nodes.flatMap((n) => n.inventory.problems),
    ...held.problems,
    ...unknownDemand(subjects.pods),
    ...brokenProfiling(devices),
  ];
  const snapshot: Snapshot = {
    at,
    cluster: settings.cluster,
    signal,
    nodes: views,
    devices,
    unpartitioned: held.layouts.flatMap((l) => l.unpartitioned),
    pods: subjects.pods,
    workloads: subjects.workloads,
    coverage: {
      objects: knowsNodes && state.known.has("pods"),
      telemetry: state.telemetry.length > 0,
      uncountedNodes: nodes.filter((n) => n.inventory.physicalGpus === null).map((n) => n.object.name),
    },
    dropped: telemetry.dropped,
    problems,
  };
  return { snapshot, memory: remember(snapshot, state, memory, gangs.since, nodes) };
}

const sorted = (pods: readonly Pod[]): readonly Pod[] =>
  [...pods].sort((a, b) => (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0));

const byName = (a: NodeInput, b: NodeInput): number => (a.object.name < b.object.name ? -1 : 1);

function heldByPods(layout: NodeLayout, asked: ReadonlyMap<number, number>, pods: Snapshot["pods"]): number {
  let sum = 0;
  for (const index of layout.pods) sum += pods[index]?.status === "held" ? (asked.get(index) ?? 0) : 0;
  return sum;
}

function nodeView(
  layout: NodeLayout,
  devices: readonly Device[],
  first: number,
  memory: Memory,
  at: number,
  byPods: number,
): NodeView {
  const { object, inventory, fromPages } = layout.input;
  const ready = fromPages ? null : isReady(object);
  // A node that is tainted as gone while its condition still says Ready: the condition's time is of something else.
  const changedAt = object.ready === false ? object.readyChangedAt : null;
  const notReadySince = ready === false ? (changedAt ?? memory.notReadySince.get(object.name) ?? at) : null;
  const unique = (names: readonly string[]) => [...new Set(names)].sort();
  const parts = [...devices, ...layout.unpartitioned];
  return {
    name: object.name,
    nodePool: nodePoolOf(object),
    gpuModels: parts.length > 0 ? unique(parts.map((d) => d.model)) : [inventory.model],
    pools: unique(parts.map((d) => d.pool)),
    instanceType: object.labels[nodeLabels.instanceType] ?? null,
    capacityType: capacityTypeOf(object),
    physicalGpus: inventory.physicalGpus,
    allocatableGpus: inventory.allocatableGpus,
    ready,
    notReadySince,
    schedulable: fromPages ? null : isSchedulable(object),
    createdAt: object.createdAt,
    heldByDevices: devices.reduce((sum, d) => sum + d.holders.reduce((s, h) => s + h.share, 0), 0),
    heldByPods: byPods,
    devices: devices.map((_, i) => first + i),
  };
}
