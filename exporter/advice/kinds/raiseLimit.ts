import { unsharedQuota } from "../../analysis/lint/idleQuota.ts";
import type { QueueView, QuotaDomain } from "../../join/queues/queueing.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { AdviceMoment } from "../moment.ts";
import type { Trial } from "../whatIf/trial.ts";
import {
  changeWords,
  noQuotaAdvice,
  type QuotaChange,
  type QuotaFound,
  quotaCandidate,
  quotaPlan,
  startsAll,
} from "./quotaCandidate.ts";
import type { QuotaShort } from "./quotaShorts.ts";
import { domainGpus, gangNames, type WaitingFor } from "./waitingFor.ts";
import { countWords, gpuWords } from "./words.ts";

/** Raises what keeps waiting work from GPUs that are free and owed to nobody else, by what it needs and no more. */
export function raiseLimit(moment: AdviceMoment, trial: Trial, { wanted, spare }: QuotaShort): QuotaFound {
  const { view, domain, gangs, gpus } = wanted;
  const amount = domainGpus(domain, gpus);
  const ways = waysUp(moment, wanted);
  for (const changes of ways) {
    if (!startsAll(trial, quotaPlan(changes, gangs))) continue;
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
  return noQuotaAdvice(view.name, "no-plan", `${amount} of its work waits for quota and would fit, but ${because}`);
}

/** Why raising its own amounts is no advice, and what would help. */
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

/** Sets of changes, the smallest first. */
function waysUp(moment: AdviceMoment, wanted: WaitingFor): readonly (readonly QuotaChange[])[] {
  const { view, domain, queue, gpus } = wanted;
  const needed = usedBy(view) + gpus;
  const ways: (readonly QuotaChange[])[] = [];
  const above = ancestors(moment, view);
  if (view.scheduler === "kueue") {
    const isAlone = !above.some(({ queue: one }) => one.kind === "Cohort");
    if (view.limit < needed - gpuTolerance && !isAlone) ways.push([{ queue, limit: needed }]);
    // Where the cohort has lent all that it has, only more quota helps; without one the quota is the limit.
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

/** No more is promised than there is: else someone would be sure of GPUs that do not exist. */
function leavesPromisesKept(above: readonly AboveIt[], { capacity }: QuotaDomain, more: number): boolean {
  const root = above.find(({ queue: { kind } }) => kind === "Scheduler")?.queue;
  return root !== undefined && (root.declaredGuarantee ?? root.guaranteed) + more <= capacity + gpuTolerance;
}

interface AboveIt {
  readonly index: number;
  readonly queue: QueueView;
}

/** The queues above, from the nearest. */
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
