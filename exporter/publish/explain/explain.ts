import type { AccountedTime } from "../../accounts/accounting.ts";
import type { ServedWork } from "../../accounts/servedWork.ts";
import type { AccountingEntry } from "../../analysis/accountingEntry.ts";
import type { Analysis } from "../../analysis/analysis.ts";
import { gangSuspects } from "../../analysis/stalledParts.ts";
import type { PastStart } from "../../analysis/startTimes/startTimes.ts";
import { everyTeam } from "../../analysis/sums/everyTeam.ts";
import { nearestName } from "../../config/nearestName.ts";
import type { GpuState } from "../../model/gpuStates.ts";
import type { Problem } from "../../model/problem.ts";
import type { KueueLocalQueue } from "../../model/queues/kueue.ts";
import { momentOf, sortByTexts } from "../document/order.ts";
import type { ExplainedKind } from "./kinds.ts";
import { explainLocalQueues, localQueuesNamed, manyLocalQueues, mostLocalQueues } from "./localQueues.ts";
import { nodeFacts } from "./nodeFacts.ts";
import { dispatchedFacts, queueEntitlement, queueFacts, queuesNamed, subtreeOf } from "./queueEntitlement.ts";
import { holdingSources, type ReasonContext, type ReasonSettings, reasonOf } from "./reasons.ts";
import type { ExplainedPart, Explanation, Fact } from "./schema.ts";
import { latencyFacts, requestFacts, servedFacts } from "./servingFacts.ts";
import { podStartFacts, startFacts } from "./startFacts.ts";
import { teamFacts } from "./teamFacts.ts";
import { podFacts, workloadFacts, workloadKey, workloadOf } from "./workloadFacts.ts";

/** The input of an explanation. */
interface ExplainInput {
  readonly analysis: Analysis;
  readonly settings: ReasonSettings;
  readonly problems: readonly Problem[];
  /** The time that is in the accounts; `null` where there is only one moment. */
  readonly accountedTime: AccountedTime | null;
  /** What workloads have served; absent where there is only one moment. */
  readonly servedWork?: readonly ServedWork[];
  /** Waits that have ended, from which it is foreseen when others will; absent where there is only one moment. */
  readonly pastStarts?: readonly PastStart[];
}

/** An explanation, or why there is none. */
export type Explained =
  | { readonly ok: true; readonly explanation: Explanation }
  | { readonly ok: false; readonly error: string; readonly nextStep: string };

/**
 * Explains how the numbers of a team, a queue, a node, a workload (`NAMESPACE/KIND/NAME`) or a pod (`NAMESPACE/NAME`) were
 * computed. It is pure.
 */
export function explain(kind: ExplainedKind, name: string, input: ExplainInput): Explained {
  const { analysis, settings, accountedTime } = input;
  const { snapshot } = analysis;
  const found = subjectOf(kind, name, input);
  if (found === null) return notFound(kind, name, analysis);
  const localQueues = explainLocalQueues(found.localQueues ?? [], analysis);
  const entitlements = (found.queues ?? []).flatMap(
    (index) => queueEntitlement(index, analysis, input.pastStarts ?? []) ?? [],
  );
  const parts = explainParts(analysis, found.isWanted, settings);
  const subjects = new Set([name, ...parts.map((part) => part.node)]);
  for (const { holder } of parts) if (holder !== null) subjects.add(`${holder.namespace}/${holder.pod}`);
  const explanation: Explanation = {
    kind,
    name,
    cluster: snapshot.cluster,
    at: momentOf(snapshot.at),
    facts: [...found.facts, signalFact(analysis)],
    localQueues,
    entitlements,
    parts,
    coverage: accountedTime === null ? null : coverageOf(accountedTime),
    problems: input.problems
      .filter(({ subject, message }) => subject === null || subjects.has(subject) || names(message, subjects))
      .map(({ code, severity, message, nextStep }) => ({ code, severity, message, nextStep })),
  };
  return { ok: true, explanation };
}

/** The parts of GPUs that `isWanted` chooses: one for each device and holder, with its states beside each other. */
function explainParts(
  analysis: Analysis,
  isWanted: (accountingEntry: AccountingEntry) => boolean,
  settings: ReasonSettings,
): readonly ExplainedPart[] {
  const { accountingEntries, snapshot } = analysis;
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, node]));
  const context = { snapshot, nodes, settings, suspects: gangSuspects(analysis) };
  // A partly active holding has two accounting entries that make one part; unallocated GPUs make a part for each state.
  const groups = Map.groupBy(accountingEntries.list.filter(isWanted).entries(), ([index, { device, pod }]) =>
    pod === null ? `${index}` : `${device}/${pod}`,
  );
  const parts = [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : [
          partOf(
            first[1],
            [first, ...others].map(([, entry]) => entry),
            context,
          ),
        ],
  );
  return sortByTexts(parts, (part) => [
    part.node,
    part.uuid ?? "\uffff",
    part.gpuInstance ?? "",
    part.holder?.namespace ?? "",
    part.holder?.pod ?? "",
  ]);
}

/** Makes one part of accounting entries: the first one describes it, and its amounts are the sums over all of them. */
function partOf(first: AccountingEntry, all: readonly AccountingEntry[], context: ReasonContext): ExplainedPart {
  const { snapshot } = context;
  const device = first.device === null ? undefined : snapshot.devices[first.device];
  const pod = first.pod === null ? undefined : snapshot.pods[first.pod];
  const holding = device?.holders.find((holder) => holder.pod === first.pod);
  const states: Partial<Record<GpuState, number>> = {};
  for (const { state, gpus } of all) states[state] = (states[state] ?? 0) + gpus;
  return {
    node: first.node,
    uuid: device?.uuid ?? null,
    gpuInstance: device?.gpuInstance ?? null,
    profile: device?.profile ?? null,
    model: device?.model ?? first.pool,
    gpus: all.reduce((sum, { gpus }) => sum + gpus, 0),
    states,
    holder: pod === undefined ? null : { namespace: pod.namespace, pod: pod.name, team: pod.team },
    knownFrom: holding === undefined ? null : holdingSources[holding.source],
    estimated: first.estimated,
    activity: pod === undefined ? (device?.activity ?? null) : (holding?.activity ?? null),
    signal: device?.signal ?? null,
    why: reasonOf(first, context),
  };
}

function coverageOf({ since, coveredSeconds, gaps }: AccountedTime): Explanation["coverage"] {
  return {
    since: momentOf(since),
    coveredSeconds,
    gaps: gaps.map(({ from, to, gap }) => ({ from: momentOf(from), to: momentOf(to), reason: gap ?? "" })),
  };
}

interface Subject {
  readonly facts: readonly Fact[];
  readonly isWanted: (accountingEntry: AccountingEntry) => boolean;
  /** Indices of the queues that are explained. */
  readonly queues?: readonly number[];
  readonly localQueues?: readonly KueueLocalQueue[];
}

function subjectOf(kind: ExplainedKind, name: string, input: ExplainInput): Subject | null {
  const { analysis, pastStarts = [] } = input;
  const { snapshot } = analysis;
  if (kind === "node") {
    const node = snapshot.nodes.find((view) => view.name === name);
    return node === undefined ? null : { facts: nodeFacts(node, analysis), isWanted: (b) => b.node === name };
  }
  if (kind === "team") {
    const team = everyTeam(analysis).find((totals) => totals.team === name);
    if (team === undefined) return null;
    return {
      facts: teamFacts(team, analysis),
      isWanted: (b) => b.pod !== null && snapshot.pods[b.pod]?.team === name,
    };
  }
  if (kind === "queue") return queueSubject(name, analysis);
  if (kind === "workload") return workloadSubject(name, input);
  const index = snapshot.pods.findIndex((pod) => `${pod.namespace}/${pod.name}` === name);
  const pod = snapshot.pods[index];
  if (pod === undefined) return null;
  return {
    facts: [
      ...podFacts(pod, index, analysis),
      ...podStartFacts(pod, analysis, pastStarts),
      ...requestFacts([index], analysis),
    ],
    isWanted: (b) => b.pod === index,
  };
}

function workloadSubject(name: string, { analysis, servedWork = [], pastStarts = [] }: ExplainInput): Subject | null {
  const { pods, workloads } = analysis.snapshot;
  const found = workloadOf(name, analysis);
  if (found === null) return null;
  const indices = found.index === null ? [] : (workloads[found.index]?.pods ?? []);
  const served = servedWork.find((work) => workloadKey(work) === name);
  return {
    facts: [
      ...workloadFacts(found, analysis),
      ...startFacts(found.gangs, analysis, pastStarts),
      ...requestFacts(indices, analysis),
      ...(found.index === null ? [] : latencyFacts(found.index, analysis)),
      ...servedFacts(served),
    ],
    isWanted: ({ pod }) => pod !== null && found.index !== null && pods[pod]?.workload === found.index,
  };
}

/** The queues of that name, and LocalQueues of Kueue with the ClusterQueues that they belong to. */
function queueSubject(name: string, analysis: Analysis): Subject | null {
  const { queueing, pods, workloads } = analysis.snapshot;
  const own = queuesNamed(name, analysis);
  const named = localQueuesNamed(name, analysis);
  const localQueues = named.slice(0, mostLocalQueues);
  const isLocal = new Set(localQueues.map((queue) => `${queue.namespace}/${queue.name}`));
  const clusterQueues = new Set(localQueues.map(({ clusterQueue }) => clusterQueue));
  const theirs = [...queueing.queues.entries()]
    .filter(
      ([, queue]) => queue.scheduler === "kueue" && queue.kind === "ClusterQueue" && clusterQueues.has(queue.name),
    )
    .map(([index]) => index);
  const facts = [
    ...queueFacts(name, analysis),
    ...dispatchedFacts(
      ({ queue, namespace, localQueue }) => queue !== name && isLocal.has(`${namespace}/${localQueue}`),
      analysis,
    ),
    ...(named.length > localQueues.length ? [manyLocalQueues(named.length)] : []),
  ];
  if (own.length === 0 && facts.length === 0 && named.length === 0) return null;
  const below = new Set(own.flatMap((index) => [...subtreeOf(index, analysis)]));
  const isWanted = (index: number): boolean => {
    if (below.has(queueing.queueOfPod[index] ?? -1)) return true;
    const pod = pods[index];
    const localQueue = pod === undefined ? null : (workloads[pod.workload]?.localQueue ?? null);
    return localQueue !== null && isLocal.has(`${pod?.namespace}/${localQueue}`);
  };
  return {
    facts,
    localQueues,
    queues: [...new Set([...own, ...theirs])],
    isWanted: ({ pod }) => pod !== null && isWanted(pod),
  };
}

/** The most names that are compared with a mistyped one. */
const mostNames = 20_000;

function namesOf(kind: ExplainedKind, analysis: Analysis): readonly string[] {
  const { nodes, pods, queueing, queueObjects, workloads } = analysis.snapshot;
  if (kind === "node") return nodes.map((node) => node.name);
  if (kind === "team") return everyTeam(analysis).map((team) => team.team);
  if (kind === "queue") {
    const own = queueing.queues.filter((one) => one.kind !== "Scheduler").map((queue) => queue.name);
    const local = queueObjects.kueueLocalQueues.flatMap(({ namespace, name }) => [name, `${namespace}/${name}`]);
    return [...own, ...local];
  }
  if (kind === "workload") return [...workloads, ...queueing.gangs].map(workloadKey);
  return pods.map((pod) => `${pod.namespace}/${pod.name}`);
}

const howNamed: Partial<Readonly<Record<ExplainedKind, string>>> = {
  pod: ", and name a pod as NAMESPACE/NAME",
  workload: ", and name a workload as NAMESPACE/KIND/NAME",
};

/** All names of a kind; if there are more than can be compared, only the first ones. */
export function explainedNames(kind: ExplainedKind, analysis: Analysis): readonly string[] {
  return [...new Set(namesOf(kind, analysis).slice(0, mostNames))];
}

function notFound(kind: ExplainedKind, name: string, analysis: Analysis): Explained {
  const nearest = nearestName(name, namesOf(kind, analysis).slice(0, mostNames));
  const what = {
    node: "node with GPUs",
    team: "team",
    queue: "queue",
    workload: "workload that holds or asks for GPUs",
    pod: "pod that holds or asks for GPUs",
  }[kind];
  const shown = JSON.stringify(name.slice(0, 300));
  return {
    ok: false,
    error: `there is no ${what} ${shown}`,
    nextStep:
      nearest === null
        ? `See /api/v1/${kind === "pod" ? "workloads" : `${kind}s`} for what there is${howNamed[kind] ?? ""}.`
        : `Did you mean ${JSON.stringify(nearest)}?`,
  };
}

function signalFact({ snapshot }: Analysis): Fact {
  const { signal, devices } = snapshot;
  const own = devices.filter((device) => device.signal === signal).length;
  return {
    name: "activity signal",
    value: signal ?? "none",
    how:
      signal === null
        ? "no device reports an activity signal"
        : `the cluster's: ${own} of its ${devices.length} devices are judged by it, the others by the best they have`,
  };
}

/** Whether a message names one of the subjects as a whole word. */
function names(message: string, subjects: ReadonlySet<string>): boolean {
  return message.split(/[\s,;:()"']+/).some((word) => subjects.has(word));
}
