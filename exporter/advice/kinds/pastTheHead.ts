import { statedCause } from "../../analysis/freeCapacity/statedReason.ts";
import type { WaitingGang } from "../../join/queues/queueing.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import type { AdviceStep, WithheldAdvice } from "../../model/recommendation.ts";
import { type Candidate, candidatesPerKind, type MadeCandidate } from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName } from "../momentIndex.ts";
import { amount } from "../planner/whyNot.ts";
import { boostPriority } from "../steps/kueueSteps.ts";
import type { Plan } from "../whatIf/plan.ts";
import type { Trial } from "../whatIf/trial.ts";
import { type StrictLine, strictLines, whomBoostThreatens, whyHeadWaits } from "./lineOfQueue.ts";
import { gpusAsked, onlyOne, poolLabel } from "./waitingFor.ts";
import { durationWords } from "./words.ts";

const kind = "unblock_gang";

/** How long the head and those behind it must have waited before anybody is asked to change their order, seconds. */
const heldBackSeconds = 5 * 60;
/** The most gangs that are tried behind one head. */
const mostBehind = 20;
/** The boost is enough to pass work of equal priority, and not enough to reach a higher class. */
const boost = 1;

/**
 * Finds work that waits behind the head of a StrictFIFO queue, would fit and be admitted now, and may go first. Such work
 * passes only work of equal priority, because owners decide on the order of classes, and only if the head does not start later
 * because of this. Nobody loses GPUs and no pod stops, so no guard is asked; if the boost would let it preempt other work, it
 * is not advised.
 */
export function boostsPastHeads(moment: AdviceMoment, trial: Trial): readonly MadeCandidate[] {
  const found: MadeCandidate[] = [];
  for (const line of strictLines(moment)) {
    if (found.length >= candidatesPerKind) break;
    const advice = pastTheHead(moment, trial, line);
    if (advice !== null) found.push(advice);
  }
  return found;
}

function pastTheHead(moment: AdviceMoment, trial: Trial, line: StrictLine): MadeCandidate | null {
  const { snapshot } = moment.analysis;
  const { gangs } = snapshot.queueing;
  const head = gangs[line.head];
  if (head === undefined || !hasWaited(moment, head)) return null;
  const equal = line.behind.filter((index) => gangs[index]?.priority === head.priority);
  const fitting = equal
    .filter((index) => isHeldBack(moment, index))
    .map((index) => ({ index, gpus: gpusOf(moment, index) }))
    .sort((a, b) => b.gpus - a.gpus || a.index - b.index);
  const chosen: number[] = [];
  for (const { index } of fitting.slice(0, mostBehind)) {
    if (chosen.length >= moment.settings.maxMoves) break;
    if (trial.startsAll(planOf([...chosen, index]))) chosen.push(index);
  }
  if (chosen.length === 0) return null;
  const starts = planOf(chosen).starts;
  const none = (why: WithheldAdvice["why"], reason: string): WithheldAdvice => ({
    kind,
    subject: line.queue.name,
    why,
    reason: `${nameWords(namesOf(moment, starts))} fits and waits behind ${fullName(head)} in ClusterQueue ${line.queue.name}: ${reason}.`,
  });
  const why = whyHeadWaits(moment, line, starts);
  if (why === null)
    return none("no-plan", `${fullName(head)} may start with what is free, or why it waits is not known`);
  if (line.queue.admissionMode !== null)
    return none("no-plan", "the queue serves by what LocalQueues have used, before any priority");
  if (snapshot.schedulerSettings.kueue?.priorityBoost === false)
    return none(
      "no-plan",
      "Kueue would heed a boost of its priority with the feature gate PriorityBoost, which is off",
    );
  const threatened = whomBoostThreatens(moment, line, head.priority);
  if (threatened !== null)
    return none("guard", `with a higher priority it could preempt ${threatened} if what is free were taken by then`);
  const steps = boostSteps(moment, starts);
  if (typeof steps === "string") return none("no-plan", steps);
  return candidateOf(moment, { line, head, starts, why, steps });
}

const planOf = (starts: readonly number[]): Plan => ({ changes: [], starts: starts.toSorted((a, b) => a - b) });

const hasWaited = ({ analysis }: AdviceMoment, { since }: WaitingGang): boolean =>
  since !== null && analysis.snapshot.at - since > heldBackSeconds;

/**
 * Whether only its place in the line holds a gang back: it fits, is allowed and has waited, and nothing else is known to hold
 * it back.
 */
function isHeldBack(moment: AdviceMoment, index: number): boolean {
  const { snapshot, waiting, gangFreeCapacities } = moment.analysis;
  const gang = snapshot.queueing.gangs[index];
  const cause = waiting.work[index]?.cause;
  if (gang === undefined || gang.never !== null || gang.bound > 0 || !hasWaited(moment, gang)) return false;
  if (cause !== "quota" && cause !== "scheduler") return false;
  return statedCause(gang.reason) === null && gangFreeCapacities.askedOf(index)?.verdict === "fits";
}

/** Physical GPUs of the members that a gang needs to start. */
function gpusOf({ analysis }: AdviceMoment, index: number): number {
  return gpusAsked(analysis.gangFreeCapacities.askedOf(index)?.placed ?? []);
}

function namesOf({ analysis }: AdviceMoment, starts: readonly number[]): readonly string[] {
  return starts.flatMap((index) => analysis.snapshot.queueing.gangs[index] ?? []).map(fullName);
}

/** The steps of all boosts, then all steps that remove them; or the reason why there are none. */
function boostSteps(moment: AdviceMoment, starts: readonly number[]): readonly AdviceStep[] | string {
  const [on, off]: [AdviceStep[], AdviceStep[]] = [[], []];
  for (const index of starts) {
    const found = boostPriority(moment, index, boost);
    if (!found.ok) return found.reason;
    on.push(...found.steps.slice(0, 1));
    off.push(...found.steps.slice(1));
  }
  return [...on, ...off];
}

interface BoostParts {
  readonly line: StrictLine;
  readonly head: WaitingGang;
  /** Gangs (indices) in the order in which they are served. */
  readonly starts: readonly number[];
  /** Why the head does not start, as part of a sentence. */
  readonly why: string;
  readonly steps: readonly AdviceStep[];
}

function candidateOf(moment: AdviceMoment, { line, head, starts, why, steps }: BoostParts): Candidate {
  const { snapshot } = moment.analysis;
  const { gangs, domains } = snapshot.queueing;
  const passing = starts.flatMap((index) => gangs[index] ?? []);
  const gpus = starts.reduce((sum, index) => sum + gpusOf(moment, index), 0);
  const [names, first] = [nameWords(passing.map(fullName)), fullName(head)];
  const isOne = passing.length === 1;
  const waited = (of: readonly WaitingGang[]): string =>
    durationWords(Math.max(...of.map(({ since }) => snapshot.at - (since ?? snapshot.at))));
  const pools = passing.flatMap(({ parts }) => parts.map(({ domain }) => domains[domain ?? -1]));
  const isOn = snapshot.schedulerSettings.kueue?.priorityBoost === true;
  return {
    kind,
    beneficiary: { kind: "queue", name: line.queue.name },
    targets: passing.map((gang) => `${gang.kind} ${fullName(gang)}`).sort(),
    title: `boost the priority of ${names} (${amount(gpus)}) past ${first}: then ${isOne ? "it starts" : "they start"}`,
    reason: [
      `ClusterQueue ${line.queue.name} serves strictly in order, and its first, ${first}, has waited for ${waited([head])}: ${why}.`,
      `${names} of equal priority ${isOne ? "has" : "have"} waited behind it for ${waited(passing)}, ${isOne ? "fits and is" : "fit and are"} within the quota.`,
      `With a higher priority Kueue serves ${isOne ? "it" : "them"} first; once admitted the boost comes off again. No pod stops for it.`,
    ].join(" "),
    evidence: [
      { name: "first in the queue", value: first },
      { name: "it has waited for", value: waited([head]) },
      { name: "why it does not start", value: why },
      { name: "GPUs behind it that would start", value: amount(gpus) },
      { name: "priority of all of them", value: `${head.priority}` },
    ],
    fromTeam: "",
    forTeam: onlyOne(passing.map(({ team }) => team)),
    queue: line.queue.name,
    pool: onlyOne(pools.map((domain) => (domain === undefined ? "" : poolLabel(domain)))),
    plan: planOf(starts),
    steps,
    disrupted: [],
    gainedGpus: ({ started }) =>
      starts.filter((index) => started.includes(index)).reduce((sum, index) => sum + gpusOf(moment, index), 0),
    confidence: {
      level: isOn ? "medium" : "low",
      reasons: [
        isOn
          ? "Kueue's feature gate PriorityBoost is on."
          : "Kueue applies the boost only with its feature gate PriorityBoost; whether that is on is not known here.",
        "Quotas of CPU and memory are not looked at.",
      ],
    },
    guards: [],
    blockedAlternatives: [],
    signs: passing.map(({ uid, priority }) => ({
      kind: "priority-changed",
      work: uid,
      from: priority,
      ahead: head.uid,
    })),
    measuredBy: {
      kind: "work-started",
      work: passing.flatMap((gang) => [gang.uid, `${gang.kind}/${gang.namespace}/${gang.name}`]),
    },
  };
}
