import type { Finding } from "../../analysis/lint/finding.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { AdviceStep, WithheldAdvice } from "../../model/recommendation.ts";
import {
  type Candidate,
  type FindInPieces,
  foundOf,
  type MadeCandidate,
  withheldPerKind,
  withhold,
} from "../candidate.ts";
import { askGuards, type GuardVeto, guardNames } from "../guards/guards.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName } from "../momentIndex.ts";
import { fixFinding } from "../steps/findingSteps.ts";
import { mostVictims } from "../whatIf/letReclaim.ts";
import { placementRules } from "../whatIf/plan.ts";
import type { Trial } from "../whatIf/trial.ts";
import { type FixEffect, fixEffect } from "./fixEffect.ts";
import { domainGpus, forQueue, gangNames } from "./waitingFor.ts";
import { countWords, gpuWords } from "./words.ts";

/**
 * Advice to fix what is wrong in the configuration of queues, if a request fixes it and waiting work would gain from that now.
 * Other faults are only reported as findings.
 */
export const findFixScheduler: FindInPieces = function* (moment, trial) {
  const withheld: WithheldAdvice[] = [];
  const fixable: Fixable[] = [];
  for (const finding of moment.analysis.findings) {
    const found = fixableOf(moment, finding);
    if ("effect" in found) fixable.push(found);
    else withheld.push(found);
  }
  fixable.sort((a, b) => b.effect.wanted.gpus - a.effect.wanted.gpus);
  const found: MadeCandidate[] = [];
  for (const [i, one] of fixable.entries()) {
    if (i < mostSimulated) yield;
    found.push(i < mostSimulated ? fix(moment, trial, one) : notSimulated(one));
  }
  return foundOf([...withheld, ...found], withheldPerKind);
};

/** The most findings in one cycle for which the schedulers are simulated with other settings. */
const mostSimulated = 5;

/** A finding that a request fixes, and what waiting work would gain. */
interface Fixable {
  readonly finding: Finding;
  readonly effect: FixEffect;
  readonly steps: readonly AdviceStep[];
}

const refuse = withhold("fix_scheduler");

function fixableOf(moment: AdviceMoment, finding: Finding): Fixable | WithheldAdvice {
  const subject = subjectOf(finding);
  const request = fixFinding(moment, finding);
  if (!request.ok)
    return refuse(subject, "no-plan", `No single request fixes it: ${request.reason}. ${finding.change}`);
  const effect = fixEffect(moment, finding);
  if (effect === null)
    return refuse(subject, "worth", `No work that waits now is known to gain by it. ${finding.reason}`);
  return { finding, effect, steps: request.steps };
}

const subjectOf = ({ kind, name }: Finding): string => `${kind} ${name}`;

function notSimulated({ finding, effect: { wanted } }: Fixable): WithheldAdvice {
  const others = `only the ${mostSimulated} findings for which the most work waits are simulated in one cycle`;
  const reason = `${domainGpus(wanted.domain, wanted.gpus)} of its work wait, but ${others}. ${finding.reason}`;
  return refuse(subjectOf(finding), "no-plan", reason);
}

function fix(moment: AdviceMoment, trial: Trial, { finding, effect, steps }: Fixable): MadeCandidate {
  const subject = subjectOf(finding);
  const served = forQueue(moment, trial, effect.wanted);
  const outcomes = placementRules.map((rule) => trial.outcome(effect.plan, rule));
  const gained = Math.min(...outcomes.map(served.gainedGpus));
  if (gained <= gpuTolerance)
    return refuse(
      subject,
      "worth",
      `None of its waiting work would start by it now, if at most ${mostVictims} workloads were taken for it. ${finding.reason}`,
    );
  const taken = [...new Set(outcomes.flatMap(({ released }) => [...released.keys()]))];
  const pods = allocatedPodsOf(moment, taken);
  const veto = vetoOf(moment, effect, pods);
  if (veto !== null) return refuse(subject, "guard", `The scheduler would take what may not be taken: ${veto.reason}`);
  return candidateFor(moment, { finding, effect, steps, served, gained, taken, pods });
}

/**
 * The first objection to what the scheduler would take, if there is one. Its own policy does not count, because that is what
 * changes.
 */
function vetoOf(moment: AdviceMoment, { wanted }: FixEffect, pods: readonly number[]): GuardVeto | null {
  if (pods.length === 0) return null;
  const { priority, queue, gpus } = wanted;
  const answer = askGuards(moment, { pods, how: "lose", by: "requeue", beneficiary: { priority, queue, gpus } });
  return answer.vetoes.find(({ guard }) => guard !== "reclaim-policy") ?? null;
}

function allocatedPodsOf({ analysis }: AdviceMoment, workloads: readonly number[]): readonly number[] {
  const { workloads: views, pods } = analysis.snapshot;
  return workloads
    .flatMap((workload) => views[workload]?.pods ?? [])
    .filter((pod) => pods[pod]?.status === "allocated")
    .sort((a, b) => a - b);
}

interface Parts extends Fixable {
  readonly served: ReturnType<typeof forQueue>;
  /** Physical GPUs that start under either placement rule. */
  readonly gained: number;
  /** Workloads (indices) that lose something. */
  readonly taken: readonly number[];
  readonly pods: readonly number[];
}

function candidateFor(moment: AdviceMoment, { finding, effect, steps, served, gained, taken, pods }: Parts): Candidate {
  const { wanted, title } = effect;
  const { view, domain, gangs } = wanted;
  const { workloads } = moment.analysis.snapshot;
  const losers = taken.flatMap((index) => workloads[index] ?? []).map(fullName);
  const loses =
    losers.length === 0
      ? ""
      : ` In the simulation it takes them from ${nameWords(losers)} (${countWords(pods.length, "pod")}).`;
  return {
    kind: "fix_scheduler",
    ...served,
    targets: [`${finding.kind} ${finding.name}`],
    title: `${title}: ${domainGpus(domain, gained)} of waiting work start`,
    reason: `${finding.reason} ${nameWords(gangNames(moment, gangs))} of queue ${view.name} wait for ${domainGpus(domain, wanted.gpus)}; with this change ${gpuWords(gained)} of them start, whichever node the scheduler prefers.${loses}`,
    evidence: [
      { name: "finding", value: finding.code },
      { name: `allocated to ${view.name}`, value: domainGpus(domain, view.allocated) },
      { name: `guaranteed to ${view.name}`, value: domainGpus(domain, view.guaranteed) },
      { name: "waiting work that could use it", value: domainGpus(domain, wanted.gpus) },
    ],
    fromTeam: "",
    plan: effect.plan,
    steps,
    disrupted: pods,
    confidence: {
      level: "medium",
      reasons: ["the scheduler itself decides what it starts and takes: the simulation follows its documented order"],
    },
    guards: pods.length === 0 ? [] : guardNames.filter((guard) => guard !== "reclaim-policy"),
    blockedAlternatives: [],
    signs: [{ kind: "finding-gone", code: finding.code, objectKind: finding.kind, name: finding.name }],
  };
}
