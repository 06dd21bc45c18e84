import type { AccountingEntries } from "../../analysis/accountingEntries.ts";
import type { NodeView } from "../../join/snapshot.ts";
import { compareText } from "../../kernel/compareText.ts";
import type { ExporterPodRef } from "../../model/cluster.ts";
import { stateIds } from "../../model/gpuStates.ts";
import type { Problem } from "../../model/problem.ts";
import type { AdviceConfidence, AdviceStep } from "../../model/recommendation.ts";
import {
  type Candidate,
  candidatesPerKind,
  type FindAdvice,
  foundOf,
  isCandidate,
  type MadeCandidate,
  nothingFound,
  withheldPerKind,
  withhold,
} from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName } from "../momentIndex.ts";
import { restartExporter } from "../steps/nodeSteps.ts";
import { gpuWords } from "./words.ts";

/** GPUs of a node that are allocated, by what is known about them; physical GPUs. */
interface NodeCoverage {
  unobserved: number;
  observed: number;
  /** GPUs that are allocated and unavailable: no telemetry is expected of them. */
  unavailable: number;
}

/** A node with GPUs that are allocated and send no telemetry. */
interface Unseen extends NodeCoverage {
  readonly index: number;
  readonly node: NodeView;
}

/**
 * Faults of a target (codes) whose cause may be the exporter's pod. A restart does not fix a credential, a certificate or a
 * name.
 */
const fixedByRestart: ReadonlySet<string> = new Set([
  "exporter-frozen",
  "exporter-doubtful",
  "target-timeout",
  "target-refused",
  "target-reset",
  "target-protocol",
  "target-empty-page",
  "target-no-gpu-rows",
]);

/**
 * If more exporters than this fail at once, the cause is a common one. The source lists at most 20 one by one, and has one line
 * for the rest.
 */
const mostFailing = 20;

/**
 * Finds nodes whose allocated GPUs are unobserved because their exporter shows values that do not change or does not answer,
 * although the node is ready: the advice is to restart its pod. The nodes with the most allocated GPUs come first.
 */
export const findFixSource: FindAdvice = (moment) => {
  const { snapshot } = moment.analysis;
  const found = unseenNodes(moment);
  if (found.length === 0) return nothingFound;
  const problems = [...snapshot.problems, ...(moment.sourceProblems ?? [])];
  const faults = faultsByNode(problems);
  const exporters = Map.groupBy(snapshot.exporterPods, ({ nodeName }) => nodeName);
  const failing = problems.find(({ source, code }) => source === "dcgm" && code === "targets-failing");
  const none = withhold("fix_source");
  const made: MadeCandidate[] = [];
  for (const unseen of found) {
    if (made.filter(isCandidate).length >= candidatesPerKind) break;
    const { name } = unseen.node;
    const own = exporters.get(name) ?? [];
    const fault = faults.get(name) ?? null;
    const because = failing === undefined ? noPlanBecause(unseen, own, fault) : manyFail(failing);
    const [exporter] = own;
    if (because !== null || exporter === undefined || fault === null) {
      const what = `${gpuWords(unseen.unobserved)} allocated GPUs are not observed`;
      made.push(none(name, "no-plan", `${what}: ${because ?? "unknown"}`));
      continue;
    }
    const restart = restartExporter(moment, unseen.index);
    made.push(restart.ok ? candidateOf(unseen, exporter, fault, restart.steps) : none(name, "no-plan", restart.reason));
  }
  return foundOf(made, withheldPerKind);
};

function unseenNodes({ analysis: { snapshot, accountingEntries, pools } }: AdviceMoment): readonly Unseen[] {
  if (pools.every(({ states }) => (states.unobserved ?? 0) <= 0)) return [];
  const byNode = coverageOfUnseen(accountingEntries);
  if (byNode.size === 0) return [];
  const unseen = snapshot.nodes.flatMap((node, index): Unseen[] => {
    const coverage = byNode.get(node.name);
    return coverage === undefined || coverage.unobserved <= 0 ? [] : [{ ...coverage, index, node }];
  });
  return unseen.sort((a, b) => b.unobserved - a.unobserved || compareText(a.node.name, b.node.name));
}

/** What is known about the GPUs of each node with allocated GPUs that are not observed, by its name. */
function coverageOfUnseen({ nodes, node, pod, state, gpus }: AccountingEntries): ReadonlyMap<string, NodeCoverage> {
  const places = new Set<number>();
  for (let at = state.indexOf(unobserved); at >= 0; at = state.indexOf(unobserved, at + 1))
    if ((pod[at] ?? -1) >= 0) places.add(node[at] ?? -1);
  const byName = new Map<string, NodeCoverage>();
  if (places.size === 0) return byName;
  for (let at = 0; at < pod.length; at += 1) {
    const place = node[at] ?? -1;
    if (!places.has(place) || (pod[at] ?? -1) < 0) continue;
    const name = nodes[place] ?? "";
    const coverage = byName.get(name) ?? { unobserved: 0, observed: 0, unavailable: 0 };
    byName.set(name, coverage);
    coverage[state[at] === unobserved ? "unobserved" : state[at] === unavailable ? "unavailable" : "observed"] +=
      gpus[at] ?? 0;
  }
  return byName;
}

/** Numbers of states in the accounting entries. */
const unobserved = stateIds.get("unobserved") ?? -1;
const unavailable = stateIds.get("unavailable") ?? -1;

/** The worst fault that the direct scrape reports for each node. */
function faultsByNode(problems: readonly Problem[]): ReadonlyMap<string, Problem> {
  const faults = new Map<string, Problem>();
  for (const problem of problems) {
    if (problem.source !== "dcgm" || problem.subject === null) continue;
    const known = faults.get(problem.subject);
    if (known === undefined || rankOf(problem) < rankOf(known)) faults.set(problem.subject, problem);
  }
  return faults;
}

const rankOf = ({ code }: Problem): string => `${fixedByRestart.has(code) ? 0 : 1}${code}`;

const manyFail = ({ message }: Problem): string =>
  `${message}: more than ${mostFailing} at once have one cause, which a restart of each would not fix`;

/** Why restarting the exporter is not the right step; `null` if it is. */
function noPlanBecause(
  { node, observed, unavailable }: Unseen,
  exporters: readonly ExporterPodRef[],
  fault: Problem | null,
): string | null {
  if (node.ready !== true) return "the node is not ready";
  if (exporters.length === 0) return "no exporter's pod is known on the node";
  if (exporters.length > 1) return `${exporters.length} exporters run on the node: which of them fails is not known`;
  if (fault === null) return "no fault of its exporter is known: look at the node and at what collects its metrics";
  if (!fixedByRestart.has(fault.code)) return `${fault.message}. ${fault.nextStep}`;
  if (observed > 0 || unavailable > 0)
    return `the exporter reports ${gpuWords(observed)}: look at the GPUs that it does not see`;
  return null;
}

function candidateOf(
  { index, node, unobserved }: Unseen,
  exporter: ExporterPodRef,
  fault: Problem,
  steps: readonly AdviceStep[],
): Candidate {
  const gpus = gpuWords(unobserved);
  const pool = node.pools.length === 1 ? (node.pools[0] ?? "") : "";
  const name = fullName(exporter);
  return {
    kind: "fix_source",
    beneficiary: { kind: "node", name: node.name },
    targets: [`Pod ${name}`],
    title: `restart ${name} on node ${node.name}: ${gpus} allocated ${pool || "GPUs"} are not observed`,
    reason: `Pods hold ${gpus} ${pool || "GPUs"} of node ${node.name}, and nobody sees whether they use them: ${fault.message}.`,
    evidence: [
      { name: "allocated GPUs that are not observed", value: gpus },
      { name: "fault", value: fault.code },
      { name: "node ready", value: "yes" },
    ],
    fromTeam: "",
    forTeam: "",
    queue: "",
    pool,
    plan: { changes: [{ kind: "observe", node: index }], starts: [] },
    steps,
    disrupted: [],
    gainedGpus: () => unobserved,
    confidence: confidenceIn(fault),
    guards: ["node-ready", "exporter-known", "fault-known"],
    blockedAlternatives: [],
    signs: [{ kind: "exporter-restarted", uid: exporter.uid, node: node.name }],
    measuredBy: { kind: "observed", nodes: [node.name] },
  };
}

/** How likely a restart makes the GPUs observed again. */
function confidenceIn({ code }: Problem): AdviceConfidence {
  const untouched = "the pods that hold the GPUs are not touched: only the exporter starts again";
  const [level, reason] = certainties.get(code) ?? otherCertainty;
  return { level, reasons: [untouched, reason] };
}

type Certainty = readonly [level: AdviceConfidence["level"], reason: string];

/** The confidence for each fault of the exporter, by its code. */
const certainties: ReadonlyMap<string, Certainty> = new Map([
  [
    "exporter-frozen",
    ["high", "an exporter none of whose values changes has lost its host engine: a restart connects it again"],
  ],
  [
    "exporter-doubtful",
    [
      "low",
      "without an energy counter nobody can distinguish a frozen exporter from GPUs that do nothing: if the values still do not change after the restart, they are idle",
    ],
  ],
]);
const otherCertainty: Certainty = [
  "medium",
  "the cause may lie elsewhere (network, host engine, driver): then a restart changes nothing",
];
