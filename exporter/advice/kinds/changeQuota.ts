import { queueKey } from "../../analysis/fairness/shortSince.ts";
import { unsharedQuota } from "../../analysis/lint/idleQuota.ts";
import type { QueueView, QuotaDomain } from "../../join/queues/queueing.ts";
import { compareText } from "../../kernel/compareText.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { AdviceStep, WithheldAdvice } from "../../model/recommendation.ts";
import {
  type Candidate,
  candidatesPerKind,
  type FindAdvice,
  foundOf,
  isCandidate,
  type MadeCandidate,
  withhold,
} from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import type { TakenSign } from "../offer.ts";
import { changeQuota } from "../steps/changeQuota.ts";
import type { Plan } from "../whatIf/plan.ts";
import type { Trial } from "../whatIf/trial.ts";
import { type QuotaShort, quotaShorts } from "./quotaShorts.ts";
import { domainGpus, forQueue, gangNames, type WaitingFor } from "./waitingFor.ts";
import { countWords, durationWords, gpuWords } from "./words.ts";

/**
 * Advice to change quotas. If only a limit keeps work waiting although there are free GPUs that are owed to nobody else, the
 * limit is raised. If a queue keeps quota to itself that it has not used for long, some of this quota is given to a queue that
 * waits.
 */
export const findChangeQuota: FindAdvice = (moment, trial) => {
  // A limit of 0 that was never intended is fixed by its own advice, not raised.
  const fixed = new Set(moment.analysis.findings.filter(({ code }) => code === "kai-limit-zero").map(nameOf));
  const shorts = quotaShorts(moment).filter(
    ({ wanted: { view } }) => view.scheduler !== "kai" || !fixed.has(view.name),
  );
  const found = shorts.slice(0, candidatesPerKind).map((short) => {
    const raised = raiseLimit(moment, trial, short);
    return isCandidate(raised) ? raised : (lendUnused(moment, trial, short) ?? raised);
  });
  return foundOf(found);
};

/**
 * Raises the limit that keeps waiting work from GPUs that are free and owed to nobody else, by what the work needs and no
 * more.
 */
function raiseLimit(moment: AdviceMoment, trial: Trial, { wanted, spare }: QuotaShort): MadeCandidate {
  const { view, domain, gangs, gpus } = wanted;
  const amount = domainGpus(domain, gpus);
  const ways = waysUp(moment, wanted);
  for (const changes of ways) {
    if (!trial.startsAll(quotaPlan(changes, gangs))) continue;
    const own = changes.find(({ queue }) => queue === wanted.queue) ?? changes[0];
    const changed = moment.analysis.snapshot.queueing.queues[own?.queue ?? -1];
    if (own === undefined || changed === undefined) continue;
    const title = `raise ${changeWords(changed, domain, own)}: ${gpuWords(gpus)} GPUs of waiting work fit now`;
    return quotaCandidate(moment, trial, wanted, changes, {
      title,
      reason: `${countWords(gangs.length, "workload")} of queue ${view.name} (${nameWords(gangNames(moment, gangs))}) wait for ${amount} because of quota alone: ${domainGpus(domain, spare)} are free that no other queue is entitled to use now, and the work fits onto them, whichever node the scheduler prefers.`,
      evidence: [
        { name: `allocated to ${view.name}`, value: domainGpus(domain, usedBy(view)) },
        { name: "guaranteed", value: domainGpus(domain, view.guaranteed) },
        { name: "limit", value: view.limit === Infinity ? "none" : domainGpus(domain, view.limit) },
        { name: "free and owed to nobody else", value: domainGpus(domain, spare) },
        { name: "waits for quota and fits", value: amount },
      ],
      confidence: {
        level: "medium",
        reasons: ["a limit may be there on purpose, which no object says; it can be lowered again at any time"],
      },
      fromTeam: "",
    });
  }
  const because = whyNot(moment, wanted, ways.length > 0);
  return noQuotaAdvice(view.name, `${amount} of its work waits for quota and would fit, but ${because}`);
}

/** Why it is not advised to raise the amounts of the queue itself, and what would help. */
function whyNot({ analysis }: AdviceMoment, { view, domain, queue }: WaitingFor, wasTried: boolean): string {
  if (wasTried) return "in the simulation it does not start with a higher quota or limit of its own either.";
  if (view.scheduler !== "kueue") return "none of its limits is what keeps it from them.";
  const more = `a higher nominalQuota of ${view.name} alone would promise more than the ${domainGpus(domain, domain.capacity)} that are there`;
  const unshared = unsharedQuota(analysis.snapshot).find(
    (one) => one.queue === analysis.snapshot.queueing.queues[queue],
  );
  if (unshared === undefined) return `${more}: it starts where another queue gives up quota for it.`;
  const lenders = nameWords(unshared.lenders.map((lender) => lender.view.name));
  return `${more}. It starts in one cohort (spec.cohortName) with ${lenders}, whose quota is unused, or where nominalQuota is moved from there.`;
}

/** The sets of changes that would give the queue enough, the smallest first. */
function waysUp(moment: AdviceMoment, wanted: WaitingFor): readonly (readonly QuotaChange[])[] {
  const { view, domain, queue, gpus } = wanted;
  const needed = usedBy(view) + gpus;
  const ways: (readonly QuotaChange[])[] = [];
  const above = ancestors(moment, view);
  if (view.scheduler === "kueue") {
    const isAlone = !above.some(({ queue: one }) => one.kind === "Cohort");
    if (view.limit < needed - gpuTolerance && !isAlone) ways.push([{ queue, limit: needed }]);
    // If the cohort has lent everything, only more quota helps; without a cohort the quota is the limit.
    const guaranteed = isAlone ? needed : view.guaranteed + gpus;
    const limit = Math.max(needed, guaranteed);
    if (leavesPromisesKept(above, domain, guaranteed - view.guaranteed))
      ways.push([view.limit === Infinity ? { queue, guaranteed } : { queue, guaranteed, limit }]);
    return ways;
  }
  const tight = [{ index: queue, queue: view }, ...above].filter(
    ({ queue: one }) => one.kind !== "Scheduler" && one.limit < usedBy(one) + gpus - gpuTolerance,
  );
  if (tight.length > 0) ways.push(tight.map(({ index, queue: one }) => ({ queue: index, limit: usedBy(one) + gpus })));
  return ways;
}

/** Whether guarantees stay within the GPUs that exist if `more` is added to one of them. */
function leavesPromisesKept(above: readonly AboveIt[], { capacity }: QuotaDomain, more: number): boolean {
  const root = above.find(({ queue: { kind } }) => kind === "Scheduler")?.queue;
  return root !== undefined && (root.declaredGuarantee ?? root.guaranteed) + more <= capacity + gpuTolerance;
}

interface AboveIt {
  readonly index: number;
  readonly queue: QueueView;
}

/** The queues above a leaf queue, the nearest first. */
function ancestors({ analysis }: AdviceMoment, leaf: QueueView): readonly AboveIt[] {
  const { queues } = analysis.snapshot.queueing;
  const found: AboveIt[] = [];
  let index = leaf.parent;
  while (index !== null) {
    const queue: QueueView | undefined = queues[index];
    if (queue === undefined) break;
    found.push({ index, queue });
    index = queue.parent;
  }
  return found;
}

const usedBy = ({ allocated, reserved }: QueueView): number => Math.max(allocated, reserved ?? 0);

/** A queue that keeps quota to itself and has not used it. */
interface Keeper {
  readonly index: number;
  readonly view: QueueView;
  /** Physical GPUs that it keeps from others and has never asked for while it was watched. */
  readonly unused: number;
  readonly peakDemand: number;
  readonly watchedSeconds: number;
}

/**
 * Moves quota that a ClusterQueue keeps to itself (its lending limit) and has not used for long to one whose work waits only
 * for quota; `null` if there is none. Other schedulers lend unused guarantees anyway.
 */
function lendUnused(moment: AdviceMoment, trial: Trial, { wanted }: QuotaShort): MadeCandidate | null {
  const { view, domain, gangs, gpus, queue } = wanted;
  if (view.scheduler !== "kueue") return null;
  for (const keeper of keepersFor(moment, wanted)) {
    const needed = usedBy(view) + gpus;
    const more = { queue, guaranteed: view.guaranteed + gpus };
    const changes: readonly QuotaChange[] = [
      { queue: keeper.index, guaranteed: keeper.view.guaranteed - gpus },
      view.limit === Infinity ? more : { ...more, limit: Math.max(needed, view.limit, more.guaranteed) },
    ];
    if (!trial.startsAll(quotaPlan(changes, gangs))) continue;
    const watched = durationWords(keeper.watchedSeconds);
    const amount = domainGpus(domain, gpus);
    return quotaCandidate(moment, trial, wanted, changes, {
      title: `move a quota of ${amount} from ${keeper.view.name} to ${view.name}: ${gpuWords(gpus)} GPUs of waiting work fit now`,
      reason: `ClusterQueue ${keeper.view.name} is sure of ${domainGpus(domain, keeper.view.guaranteed)} and lends at most ${gpuWords(keeper.view.lendingLimit)} of them, but in ${watched} it never asked for more than ${gpuWords(keeper.peakDemand)}. Meanwhile ${nameWords(gangNames(moment, gangs))} of queue ${view.name} wait for ${amount} of quota, and would fit onto free GPUs.`,
      evidence: [
        { name: `guaranteed to ${keeper.view.name}`, value: domainGpus(domain, keeper.view.guaranteed) },
        { name: `most that ${keeper.view.name} asked for`, value: domainGpus(domain, keeper.peakDemand) },
        { name: "watched for", value: watched },
        { name: `waits for quota in ${view.name} and fits`, value: amount },
      ],
      confidence: {
        level: "low",
        reasons: [`what ${keeper.view.name} will need is guessed from the last ${watched}`],
      },
      fromTeam: keeper.view.team ?? "",
    });
  }
  return null;
}

function keepersFor({ analysis, settings, usage }: AdviceMoment, { view, gpus, queue }: WaitingFor): readonly Keeper[] {
  const { snapshot } = analysis;
  const { queues, domains } = snapshot.queueing;
  const enough = settings.usageHours * 3600;
  const keepers = queues.flatMap((other, index): readonly Keeper[] => {
    if (index === queue || !other.isLeaf || other.scheduler !== "kueue" || other.domain !== view.domain) return [];
    const used = usage.queues.get(queueKey(other, domains[other.domain]?.name ?? ""));
    if (used === undefined || snapshot.at - used.since < enough) return [];
    const kept = other.guaranteed - other.lendingLimit;
    const peakDemand = Math.max(used.peakDemand, other.allocated, other.reserved ?? 0, other.allocated + other.pending);
    // Kueue demands that the quota stays at or above the lending limit.
    const unused = Math.min(kept, other.guaranteed - peakDemand);
    if (unused < gpus - gpuTolerance) return [];
    return [{ index, view: other, unused, peakDemand, watchedSeconds: snapshot.at - used.since }];
  });
  return keepers.sort((a, b) => b.unused - a.unused || compareText(a.view.name, b.view.name));
}

const nameOf = ({ name }: { readonly name: string }): string => name;

/** A new guarantee or limit of a queue, or both, in physical GPUs. */
interface QuotaChange {
  /** Index into `Queueing.queues`. */
  readonly queue: number;
  readonly guaranteed?: number;
  readonly limit?: number;
}

/** The parts of a candidate that differ between plans of this kind. */
type QuotaWords = Pick<Candidate, "title" | "reason" | "evidence" | "confidence" | "fromTeam">;

/** The plan that makes some changes and starts some gangs. */
function quotaPlan(changes: readonly QuotaChange[], starts: readonly number[]): Plan {
  return { changes: changes.map((change) => ({ kind: "setQueue", ...change })), starts };
}

/** Advice to make these changes, or the reason why there is none: no request is known that makes them. */
function quotaCandidate(
  moment: AdviceMoment,
  trial: Trial,
  wanted: WaitingFor,
  changes: readonly QuotaChange[],
  words: QuotaWords,
): MadeCandidate {
  const { queues } = moment.analysis.snapshot.queueing;
  const { view, gangs } = wanted;
  const steps: AdviceStep[] = [];
  for (const { queue, guaranteed, limit } of changes) {
    const to = { ...(guaranteed === undefined ? {} : { guaranteed }), ...(limit === undefined ? {} : { limit }) };
    const found = changeQuota(moment, queue, to);
    if (!found.ok) return noQuotaAdvice(view.name, `${words.title}: ${found.reason}`);
    steps.push(...found.steps);
  }
  return {
    kind: "change_quota",
    ...forQueue(moment, trial, wanted),
    targets: changes.flatMap(({ queue }) => {
      const changed = queues[queue];
      return changed === undefined ? [] : [`${changed.kind} ${changed.name}`];
    }),
    ...words,
    plan: quotaPlan(changes, gangs),
    steps,
    disrupted: [],
    guards: [],
    blockedAlternatives: [],
    signs: changes.flatMap((change) => signsOf(moment, change)),
  };
}

/** The signs that the queue has the advised amounts. */
function signsOf({ analysis }: AdviceMoment, change: QuotaChange): readonly TakenSign[] {
  const { queues, domains } = analysis.snapshot.queueing;
  const view = queues[change.queue];
  if (view === undefined) return [];
  const queue = queueKey(view, domains[view.domain]?.name ?? "");
  return (["guaranteed", "limit"] as const).flatMap((field): readonly TakenSign[] => {
    const to = change[field];
    const from = view[field];
    return to === undefined || to === from ? [] : [{ kind: "quota-changed", queue, field, from, to }];
  });
}

/** Withheld advice about a subject, with the reason. */
const noQuotaAdvice = (subject: string, reason: string): WithheldAdvice =>
  withhold("change_quota")(subject, "no-plan", reason);

/** A change in words: `the limit of search from 16 to 24 H100`. */
function changeWords(view: QueueView, domain: QuotaDomain, { guaranteed, limit }: QuotaChange): string {
  const [word, from, to] =
    guaranteed === undefined ? ["limit", view.limit, limit ?? view.limit] : ["quota", view.guaranteed, guaranteed];
  return `the ${word} of ${view.name} from ${gpuWords(from)} to ${domainGpus(domain, to)}`;
}
