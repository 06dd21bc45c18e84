import { queueKey } from "../../analysis/fairness/shortSince.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import type { AdviceConfidence, AdviceStep } from "../../model/recommendation.ts";
import type { Candidate } from "../candidate.ts";
import { guardNames } from "../guards/guards.ts";
import type { AdviceMoment } from "../moment.ts";
import { returnAfterStart } from "../steps/workloadSteps.ts";
import { placementRules } from "../whatIf/plan.ts";
import type { Trial } from "../whatIf/trial.ts";
import type { Choice } from "./chooseVictims.ts";
import { leftSign } from "./plannedMoves.ts";
import type { Starved } from "./reclaim.ts";
import { nameOf, type Victim, type Victims } from "./reclaimVictims.ts";
import { domainGpus, forQueue, gangNames, onlyOne, type WaitingFor } from "./waitingFor.ts";
import { countWords, durationWords, gpuWords } from "./words.ts";

/** The most alternatives that are named. */
const mostAlternatives = 5;

/** The parts from which a candidate of this kind is made. */
interface Parts {
  readonly starved: Starved;
  readonly wanted: WaitingFor;
  readonly choice: Choice;
  readonly victims: Victims;
}

/** The advice to take these workloads off their nodes, with its texts. */
export function reclaimCandidate(moment: AdviceMoment, trial: Trial, parts: Parts): Candidate {
  const { wanted, choice, victims } = parts;
  const { view, domain, gangs } = wanted;
  const served = forQueue(moment, trial, wanted);
  const gained = Math.min(...placementRules.map((rule) => served.gainedGpus(trial.outcome(choice.plan, rule))));
  const teams = choice.victims.map(({ view: victim }) => victim.team);
  const pods = choice.victims.flatMap((victim) => victim.pods);
  const lost = choice.victims.reduce((sum, { lostGpuHours }) => sum + lostGpuHours, 0);
  return {
    kind: "reclaim",
    ...served,
    targets: choice.victims.map(({ view: victim }) => nameOf(victim)),
    title: `give ${view.name} ${domainGpus(domain, gained)} back: ${deedWords(choice.victims)}`,
    reason: reasonFor(moment, parts, gained),
    evidence: evidenceFor(parts),
    fromTeam: onlyOne(teams),
    plan: choice.plan,
    steps: stepsFor(choice.victims, gangNames(moment, gangs)),
    disrupted: pods,
    confidence: confidenceIn(choice.victims),
    guards: guardNames,
    blockedAlternatives: victims.refused
      .filter(({ lostGpuHours }) => lostGpuHours <= lost)
      .slice(0, mostAlternatives)
      .map(({ name, gpus, reason }) => `${name} (${gpuWords(gpus)} GPUs): ${reason}`),
    signs: [leftSign(moment.analysis.snapshot, pods)],
  };
}

function stepsFor(victims: readonly Victim[], started: readonly string[]): readonly AdviceStep[] {
  const leave = victims.flatMap(({ by, steps }) => (by === "requeue" ? steps.slice(0, -1) : steps));
  const again = victims.flatMap(({ by, steps }) => (by === "requeue" ? steps.slice(-1) : []));
  return returnAfterStart(leave, again, started);
}

/** What is done with the victims: `requeue ads/embed-v3 (8) and stop ads/crawl-42 (8)`. */
function deedWords(victims: readonly Victim[]): string {
  const words = (by: Victim["by"]) =>
    victims
      .filter((one) => one.by === by)
      .map(({ view, gpus }) => `${view.namespace}/${view.name} (${gpuWords(gpus)})`);
  const [requeued, stopped] = [words("requeue"), words("scale")];
  const deeds = [
    ...(requeued.length > 0 ? [`requeue ${nameWords(requeued)}`] : []),
    ...(stopped.length > 0 ? [`stop ${nameWords(stopped)}`] : []),
  ];
  return deeds.join(", ");
}

function reasonFor(moment: AdviceMoment, { wanted, choice }: Parts, gained: number): string {
  const { analysis } = moment;
  const { queues } = analysis.snapshot.queueing;
  const { view, domain, gangs, queue } = wanted;
  const judged = analysis.fairness.queues[queue] ?? null;
  const since = analysis.shortSince.get(queueKey(view, domain.name)) ?? analysis.snapshot.at;
  const seconds = analysis.snapshot.at - since;
  const time = seconds >= 60 ? ` for ${durationWords(seconds)}` : "";
  const borrowers = [...new Set(choice.victims.map((victim) => victim.queue))].map(
    (index) =>
      `queue ${queues[index]?.name ?? ""} (${domainGpus(domain, analysis.fairness.queues[index]?.excess ?? 0)})`,
  );
  const given = choice.victims.reduce((sum, { gpus }) => sum + gpus, 0);
  return [
    `Queue ${view.name} holds ${domainGpus(domain, view.allocated)}, is entitled to ${gpuWords(judged?.entitled ?? 0)} and has been short of its share${time}; ${countWords(gangs.length, "workload")} of its own (${nameWords(gangNames(moment, gangs))}) could use it.`,
    `More than its own share holds ${nameWords(borrowers)}.`,
    `The way with the least loss is to ${deedWords(choice.victims)}: that frees ${domainGpus(domain, given)} where they can be used, and ${gpuWords(gained)} GPUs of waiting work start, whichever node the scheduler prefers.`,
    ...(choice.victims.some(({ by }) => by === "scale")
      ? ["What is stopped stays stopped until someone starts it again."]
      : []),
  ].join(" ");
}

function evidenceFor({ wanted, starved, choice }: Parts): Candidate["evidence"] {
  const { view, domain } = wanted;
  const excess = starved.pairs.reduce((sum, { gpus }) => sum + gpus, 0);
  const lost = choice.victims.reduce((sum, { lostGpuHours }) => sum + lostGpuHours, 0);
  return [
    { name: `allocated to ${view.name}`, value: domainGpus(domain, view.allocated) },
    { name: `guaranteed to ${view.name}`, value: domainGpus(domain, view.guaranteed) },
    { name: "shortfall", value: domainGpus(domain, starved.shortfall) },
    { name: "waiting work that would start", value: domainGpus(domain, wanted.gpus) },
    { name: "allocated to others above their share", value: domainGpus(domain, excess) },
    { name: "work that would be done again", value: `${lost.toFixed(1)} GPU-hours` },
  ];
}

function confidenceIn(victims: readonly Victim[]): AdviceConfidence {
  if (victims.every(({ by }) => by === "requeue"))
    return { level: "high", reasons: ["the queue system itself takes the work back and starts what is due"] };
  return {
    level: "medium",
    reasons: ["work that is stopped by its owner's object must be started again by hand"],
  };
}
