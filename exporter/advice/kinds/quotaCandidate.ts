import { queueKey } from "../../analysis/fairness/shortSince.ts";
import type { QueueView, QuotaDomain } from "../../join/queues/queueing.ts";
import type { AdviceStep, WithheldAdvice } from "../../model/recommendation.ts";
import { type Candidate, type MadeCandidate, withhold } from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import type { TakenSign } from "../offer.ts";
import { changeQuota } from "../steps/changeQuota.ts";
import type { Plan } from "../whatIf/plan.ts";
import type { Trial } from "../whatIf/trial.ts";
import { domainGpus, forQueue, type WaitingFor } from "./waitingFor.ts";
import { gpuWords } from "./words.ts";

/** A new guarantee or limit of a queue. Physical GPUs. */
export interface QuotaChange {
  /** Index into `Queueing.queues`. */
  readonly queue: number;
  readonly guaranteed?: number;
  readonly limit?: number;
}

/** What differs between plans of this kind. */
type QuotaWords = Pick<Candidate, "title" | "reason" | "evidence" | "confidence" | "fromTeam">;

/** The plan that makes some changes. */
export function quotaPlan(changes: readonly QuotaChange[], starts: readonly number[]): Plan {
  return { changes: changes.map((change) => ({ kind: "setQueue", ...change })), starts };
}

/** Advice to make these changes; none if no request is known that makes them. */
export function quotaCandidate(
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

/** The sign that the queue has the advised amounts. */
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

/** No offer, with the reason. */
export const noQuotaAdvice = (subject: string, reason: string): WithheldAdvice =>
  withhold("change_quota")(subject, "no-plan", reason);

/** `the limit of search from 16 to 24 H100` */
export function changeWords(view: QueueView, domain: QuotaDomain, { guaranteed, limit }: QuotaChange): string {
  const [word, from, to] =
    guaranteed === undefined ? ["limit", view.limit, limit ?? view.limit] : ["quota", view.guaranteed, guaranteed];
  return `the ${word} of ${view.name} from ${gpuWords(from)} to ${domainGpus(domain, to)}`;
}
