// Needed for the goal `advice-contended` (docs/performance.md).

import type { Analysis } from "../../analysis/analysis.ts";
import type { NodeView, PodView } from "../../join/snapshot.ts";
import type { NodeRequests } from "../../model/cluster.ts";
import type { Candidate } from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName, momentIndex } from "../momentIndex.ts";
import type { Outcome } from "../whatIf/trial.ts";

/**
 * What a plan rests on, as it was in the moment for which the plan was worked out: the pods that it takes off their nodes, the
 * nodes that lose or get pods, the work that it starts, and the queues that it serves or changes.
 */
export interface PlanInputs {
  readonly pods: readonly PodInput[];
  readonly nodes: readonly NodeInput[];
  /** Waiting gangs by uid. */
  readonly gangs: ReadonlyMap<string, GangInput>;
  /** Queues by name. */
  readonly queues: ReadonlyMap<string, QueueInput>;
  /** What workloads have used, by their key in the watch, as a text. */
  readonly usages: ReadonlyMap<string, NamedText>;
  /** Disruption budgets of the namespaces of the pods, as a text. */
  readonly budgets: ReadonlyMap<string, string>;
  /** Findings that it ends, as texts. */
  readonly findings: readonly string[];
}

/** A text that is equal for as long as nothing that matters has changed, and a name for people. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

export interface PodInput extends NamedText {
  readonly uid: string;
  readonly node: string;
  /** Whether it held anything that is known: a pod may be on a node without. */
  readonly isHolder: boolean;
  /** Whether it did nothing, and the plan is about that. */
  readonly didNothing: boolean;
}

/** What a waiting gang asks for, as a text. */
export interface GangInput extends NamedText {
  /** Indices of the queues in which its parts wait. */
  readonly queues: readonly number[];
}

export interface NodeInput {
  readonly name: string;
  /** Everything but what is allocated there. */
  readonly text: string;
  /** Physical GPUs that are allocated of each device, in their order. */
  readonly allocated: readonly number[];
  /** CPU, memory and pods that are asked for there; `null`: not known. */
  readonly requests: NodeRequests | null;
  /** Whether the plan needs it to be idle. */
  readonly wasIdle: boolean;
}

export interface QueueInput {
  /** Its guarantee and limit in each domain. */
  readonly text: string;
  /** Physical GPUs that must be owed to it, in all domains together; 0: the plan does not rest on that. */
  readonly owed: number;
}

/** What a candidate rests on in its moment. `gained`: physical GPUs that it gains in the worse outcome. */
export function planInputs(
  moment: AdviceMoment,
  candidate: Candidate,
  outcomes: readonly Outcome[],
  gained: number,
): PlanInputs {
  const { analysis } = moment;
  const { pods } = analysis.snapshot;
  const { kind, signs } = candidate;
  const moved = podsOf(analysis, candidate);
  const owed = kind === "reclaim" ? gained : 0;
  return {
    pods: moved.flatMap((pod) => podInput(analysis, pod, kind === "release_idle")),
    nodes: nodesOf(analysis, candidate, outcomes, moved),
    gangs: gangsOf(analysis, candidate),
    queues: new Map(
      queuesOf(analysis, candidate).map((name) => {
        const now = queueInput(analysis, name);
        return [name, { text: now.text, owed: Math.min(owed, now.owed) }] as const;
      }),
    ),
    usages: new Map(kind === "right_size" || kind === "share_gpu" ? usagesOf(moment, moved) : []),
    budgets: new Map(moved.map((pod) => budgetsAround(analysis, pods[pod]?.namespace ?? ""))),
    findings: signs.flatMap((sign) => (sign.kind === "finding-gone" ? [findingText(sign.objectKind, sign)] : [])),
  };
}

/** The pods (indices) that a plan takes off their nodes. */
function podsOf({ snapshot }: Analysis, { plan, disrupted }: Candidate): readonly number[] {
  const moved = new Set(disrupted);
  for (const change of plan.changes) {
    const own =
      change.kind === "move"
        ? change.pods
        : change.kind === "stop" || change.kind === "shrink"
          ? (snapshot.workloads[change.workload]?.pods ?? [])
          : [];
    for (const pod of own) if (snapshot.pods[pod]?.status === "allocated") moved.add(pod);
  }
  return [...moved];
}

/** The nodes that a plan touches, those of its pods, and those that it names. */
function nodesOf(
  analysis: Analysis,
  { plan, targets }: Candidate,
  outcomes: readonly Outcome[],
  moved: readonly number[],
): readonly NodeInput[] {
  const { nodes, pods } = analysis.snapshot;
  const { nodeOf } = momentIndex(analysis);
  const own = new Set(outcomes.flatMap(({ touched }) => touched));
  const emptied = new Set<number>();
  for (const change of plan.changes) {
    if (change.kind === "removeNode") emptied.add(change.node);
    if (change.kind === "removeNode" || change.kind === "observe") own.add(change.node);
  }
  const named = [
    ...moved.map((pod) => pods[pod]?.node ?? ""),
    ...targets.flatMap((target) => (target.startsWith(nodeTarget) ? [target.slice(nodeTarget.length)] : [])),
  ];
  for (const name of named) own.add(nodeOf(name) ?? -1);
  return [...own].flatMap((node) => {
    const view = nodes[node];
    if (view === undefined) return [];
    return [{ ...nodeInput(analysis, view), wasIdle: emptied.has(node) && isIdle(analysis, node) }];
  });
}

/** The work that a plan starts, and that which it passes, by uid. */
function gangsOf({ snapshot }: Analysis, { plan, signs }: Candidate): ReadonlyMap<string, GangInput> {
  const { gangs } = snapshot.queueing;
  const named = new Set(signs.flatMap((sign) => (sign.kind === "priority-changed" ? [sign.work, sign.ahead] : [])));
  const passed = named.size === 0 ? [] : [...gangs.keys()].filter((place) => named.has(gangs[place]?.uid ?? ""));
  return new Map(
    [...plan.starts, ...passed].flatMap((place) => {
      const view = gangs[place];
      if (view === undefined) return [];
      const queues = [...new Set(view.parts.flatMap(({ queue }) => queue ?? []))];
      return [[view.uid, { name: fullName(view), text: gangText(view), queues }] as const];
    }),
  );
}

/** Names of the queues that a plan serves or changes. */
function queuesOf({ snapshot }: Analysis, { plan, beneficiary }: Candidate): readonly string[] {
  const changed = plan.changes.flatMap((change) =>
    change.kind === "setQueue" || change.kind === "letReclaim"
      ? (snapshot.queueing.queues[change.queue]?.name ?? [])
      : [],
  );
  return [...new Set([...(beneficiary.kind === "queue" ? [beneficiary.name] : []), ...changed])];
}

/** What the workloads of some pods have used. */
function usagesOf(
  { analysis, usage }: AdviceMoment,
  moved: readonly number[],
): readonly (readonly [string, NamedText])[] {
  const workloads = new Set(moved.map((pod) => analysis.snapshot.pods[pod]?.workload ?? -1));
  return [...workloads].flatMap((workload) => {
    const used = usage.byPlace?.[workload];
    return used === undefined ? [] : [[used.key, { name: used.key, text: usageText(used) }] as const];
  });
}

/** The disruption budgets of a namespace, as a text. */
export const budgetsAround = (analysis: Analysis, namespace: string): readonly [namespace: string, text: string] => [
  namespace,
  JSON.stringify(momentIndex(analysis).budgets(namespace)),
];

const nodeTarget = "Node ";

/** A finding as a text. */
export const findingText = (kind: string, { code, name }: { readonly code: string; readonly name: string }): string =>
  JSON.stringify([code, kind, name]);

function podInput(analysis: Analysis, pod: number, isAboutIdle: boolean): readonly PodInput[] {
  const view = analysis.snapshot.pods[pod];
  if (view === undefined || view.uid === null || view.node === null) return [];
  const { uid, node } = view;
  const didNothing = isAboutIdle && doesNothing(analysis, pod);
  const isHolder = momentIndex(analysis).holderOn(node, uid) !== undefined;
  return [{ uid, node, name: fullName(view), text: podText(view), isHolder, didNothing }];
}

/** What matters of a pod that a plan takes off its node. */
export const podText = ({ uid, node, gpus, priority, starting, disruption, gang, idleOptOut }: PodView): string =>
  JSON.stringify([uid, node, gpus, priority, starting, disruption, gang?.id, gang?.min, gang?.bound, idleOptOut]);

/** Whether everything that a pod (index) holds is idle or stalled. */
export function doesNothing(analysis: Analysis, pod: number): boolean {
  const { devices, pods } = analysis.snapshot;
  const node = momentIndex(analysis).node(pods[pod]?.node ?? "");
  for (const index of node?.devices ?? []) {
    const device = devices[index];
    for (const holding of device?.holders ?? [])
      if (holding.pod === pod && holding.idleSince === null && device?.stall === null) return false;
  }
  return true;
}

/** What matters of a node. */
export function nodeInput({ snapshot }: Analysis, view: NodeView): Omit<NodeInput, "wasIdle"> {
  const { devices, pods, requestsByNode } = snapshot;
  const own = view.devices.flatMap((index) => devices[index] ?? []);
  const ruled = own.flatMap(({ holders }) => holders.flatMap(({ pod }) => (pods[pod]?.placement ? pods[pod].uid : [])));
  const { name, uid, nodePool, capacityType, physicalGpus, ready, schedulable, labels, taints, keptBy } = view;
  return {
    name,
    text: JSON.stringify([
      [uid, nodePool, capacityType, physicalGpus, ready, schedulable, labels, taints, keptBy],
      [view.allocatableGpus, view.allocatableCpuMilli, view.allocatableMemoryBytes],
      own.map((one) => [one.uuid, one.gpuInstance, one.unhealthy, one.orphanReservation, one.reading === null]),
      // Pods that ask something of those around them decide where others may go.
      [...new Set(ruled)].sort(),
    ]),
    allocated: own.map(({ holders }) => holders.reduce((sum, { share }) => sum + share, 0)),
    requests: requestsByNode?.get(name) ?? null,
  };
}

/** Whether a node (index) is listed as idle. */
export const isIdle = ({ idleNodes }: Analysis, node: number): boolean =>
  idleNodes.nodes.some((one) => one.node === node);

type Gang = Analysis["snapshot"]["queueing"]["gangs"][number];

/** What a waiting gang asks for. */
export const gangText = ({ pods, gpus, bound, min, priority, never, parts }: Gang): string =>
  JSON.stringify([pods, gpus, bound, min, priority, never, parts.map((part) => [part.pods, part.gpusPerPod])]);

type Usage = NonNullable<NonNullable<AdviceMoment["usage"]["byPlace"]>[number]>;

/** What a workload has used. */
export const usageText = ({ since, gpus, peakActivity, peakMemoryRatio, activeGpus }: Usage): string =>
  JSON.stringify([since, gpus, peakActivity, peakMemoryRatio, activeGpus.size]);

/** The guarantees and limits of the queues of this name, and what is owed to them together. */
export function queueInput({ snapshot, fairness }: Analysis, name: string): QueueInput {
  const { queues, domains } = snapshot.queueing;
  let owed = 0;
  const texts: string[] = [];
  for (let i = 0; i < queues.length; i += 1) {
    const queue = queues[i];
    if (queue?.name !== name) continue;
    const judged = fairness.queues[i] ?? null;
    if (judged !== null && queue.isLeaf) owed += judged.shortfallByIdleGap + judged.shortfallByBorrowers;
    texts.push(`${domains[queue.domain]?.name} ${queue.scheduler} ${queue.kind} ${queue.guaranteed} ${queue.limit}`);
  }
  return { text: texts.sort().join("\n"), owed };
}
