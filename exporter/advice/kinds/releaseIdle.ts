import type { WorkloadView } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { AdviceConfidence } from "../../model/recommendation.ts";
import { type Candidate, candidatesPerKind, type FindAdvice, type MadeCandidate, nothingFound } from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import { unusedSince } from "../savedMoney.ts";
import { stopWorkload } from "../steps/steps.ts";
import { type GangsToStart, gangsToStartInSteps } from "./gangsToStart.ts";
import { groupSmallIdle, type IdleCandidate } from "./groupIdle.ts";
import { hourlyCostWords } from "./hourlyCost.ts";
import { findIdleWorkloads, type IdleWorkload } from "./idleWorkloads.ts";
import {
  askRelease,
  hasWaitingPods,
  heldPods,
  nodesByName,
  ownGpus,
  vetoWords,
  withheldList,
  withheldPerKind,
} from "./ownGpus.ts";
import { byText, countWords, durationWords, gpuWords } from "./words.ts";

/** `namespace/name`. */
const nameOf = ({ namespace, name }: WorkloadView): string => `${namespace}/${name}`;

/**
 * Workloads that hold GPUs on which nothing has run for longer than the windows of `idle`: their teams may let them go. The ones
 * with the most GPUs first, then those that have been idle longest.
 */
export const findReleaseIdle: FindAdvice = function* (moment) {
  const { analysis } = moment;
  const { snapshot } = analysis;
  const withheld = withheldList("release_idle");
  if (analysis.pools.every(({ states }) => (states.held_idle ?? 0) <= gpuTolerance)) return nothingFound;
  const found = yield* findIdleWorkloads(analysis);
  if (found.estimatedGpus > 0)
    withheld.add(
      "guard",
      "holdings that are estimated",
      `${gpuWords(found.estimatedGpus)} idle GPUs are held by workloads of which it is not known which devices they hold`,
    );
  if (found.workloads.length === 0) return { candidates: [], withheld: withheld.list };
  yield;
  const ranked = rank(found.workloads, snapshot.workloads);
  const toStart = yield* gangsToStartInSteps(analysis);
  yield;
  const nodes = nodesByName(snapshot);
  const { maxMoves } = moment.settings;
  const offered: IdleCandidate[] = [];
  for (const idle of ranked.slice(0, candidatesPerKind * maxMoves + withheldPerKind)) {
    yield;
    const workload = snapshot.workloads[idle.workload];
    if (workload === undefined) continue;
    const made = candidateOf(moment, idle, workload, toStart, nodes);
    if (made.ok)
      offered.push({ candidate: made.candidate, gpus: idle.gpus, name: nameOf(workload), since: idle.since });
    else withheld.add(made.why, nameOf(workload), made.reason);
  }
  return { candidates: groupSmallIdle(offered, maxMoves).slice(0, candidatesPerKind), withheld: withheld.list };
};

function rank(found: readonly IdleWorkload[], workloads: readonly WorkloadView[]): readonly IdleWorkload[] {
  const key = ({ workload }: IdleWorkload): string => {
    const view = workloads[workload];
    return view === undefined ? "" : `${view.kind}/${nameOf(view)} ${view.ownerUids.join()}`;
  };
  return [...found].sort((a, b) => b.gpus - a.gpus || a.since - b.since || byText(key(a), key(b)));
}

function candidateOf(
  moment: AdviceMoment,
  idle: IdleWorkload,
  workload: WorkloadView,
  toStart: GangsToStart,
  nodes: ReturnType<typeof nodesByName>,
): MadeCandidate {
  const { snapshot, prices } = moment.analysis;
  const { at } = snapshot;
  const gpus = gpuWords(idle.gpus);
  const idleFor = durationWords(at - idle.since);
  if (hasWaitingPods(snapshot, workload))
    return {
      ok: false,
      why: "no-plan",
      reason: `nothing ran on its ${gpus} GPUs for ${idleFor}, but other pods of it wait`,
    };
  const held = heldPods(snapshot, workload);
  if (held === null || held.length === 0)
    return { ok: false, why: "guard", reason: "the API does not know one of its pods: telemetry alone names it" };
  const guards = askRelease(moment, held);
  const veto = vetoWords(guards);
  if (veto !== null) return { ok: false, why: "guard", reason: `${gpus} idle GPUs for ${idleFor}: ${veto}` };
  const stopped = stopWorkload(moment, idle.workload);
  if (!stopped.ok) return { ok: false, why: "no-plan", reason: `${gpus} idle GPUs for ${idleFor}: ${stopped.reason}` };
  const own = ownGpus(snapshot, held, nodes);
  const price = hourlyCostWords(prices, own.byNode);
  const name = nameOf(workload);
  const cost = price === "" ? "" : ` They cost ${price}.`;
  const id = `${workload.kind}/${name}`;
  const candidate: Candidate = {
    kind: "release_idle",
    beneficiary: { kind: "team", name: workload.team },
    targets: [`${workload.kind} ${name}`],
    // A title stays as it is for as long as the advice does: it says since when, not for how long.
    title: `release ${gpus} idle ${own.words} of ${name}: nothing ran since ${minuteWords(idle.since)}`,
    reason: `${workload.kind} ${name} of team ${workload.team} holds ${gpus} ${own.words} with ${countWords(held.length, "pod")}. Every signal of each of them has stayed at or below the idle threshold since ${new Date(idle.since * 1000).toISOString()}.${cost}`,
    evidence: [
      { name: "GPUs held", value: gpus },
      { name: "idle for", value: idleFor },
      { name: "class", value: workload.workloadClass },
      { name: "nodes", value: `${own.byNode.size}` },
    ],
    ...{ fromTeam: workload.team, forTeam: "", queue: workload.queue ?? "", pool: own.pool },
    plan: { changes: [{ kind: "stop", workload: idle.workload }], starts: toStart(own) },
    steps: stopped.steps,
    disrupted: held.map(({ index }) => index),
    gainedGpus: ({ released }) => released.get(idle.workload) ?? 0,
    unused: unusedSince(own.byNode, idle.since),
    confidence: confidenceOf(workload, idleFor),
    guards: guards.checked,
    blockedAlternatives: [],
    signs: [{ kind: "pods-left", pods: held.map(({ uid, node }) => ({ uid, node })) }],
    measuredBy: { kind: "work-released", work: [id], gpus: idle.gpus },
  };
  return { ok: true, candidate };
}

/** `2026-11-16 09:50 UTC` */
const minuteWords = (at: number): string => `${new Date(at * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;

function confidenceOf({ workloadClass, kind }: WorkloadView, idleFor: string): AdviceConfidence {
  const reasons = [`every sample of every GPU of it was idle for ${idleFor}`];
  if (kind === "Notebook") reasons.push("what a notebook keeps in memory is lost: ask its author");
  if (workloadClass !== "serving") return { level: "high", reasons };
  return { level: "medium", reasons: [...reasons, "it serves requests: the next one may come at any time"] };
}
