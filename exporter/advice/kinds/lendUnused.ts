import { queueKey } from "../../analysis/fairness/shortSince.ts";
import type { QueueView } from "../../join/queues/queueing.ts";
import { compareText } from "../../kernel/compareText.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { AdviceMoment } from "../moment.ts";
import type { Trial } from "../whatIf/trial.ts";
import { type QuotaChange, type QuotaFound, quotaCandidate, quotaPlan, startsAll } from "./quotaCandidate.ts";
import type { QuotaShort } from "./quotaShorts.ts";
import { domainGpus, gangNames, type WaitingFor } from "./waitingFor.ts";
import { durationWords, gpuWords } from "./words.ts";

/** A queue that keeps quota to itself and has not used it. */
interface Keeper {
  readonly index: number;
  readonly view: QueueView;
  /** Physical GPUs that it keeps from others, and never asked for while it was watched. */
  readonly unused: number;
  readonly peakDemand: number;
  readonly watchedSeconds: number;
}

/**
 * Moves quota that a ClusterQueue keeps to itself (its lending limit) and has not used for long to one whose work waits for
 * quota alone; `null` where nobody does. Elsewhere unused guarantees are lent without asking.
 */
export function lendUnused(moment: AdviceMoment, trial: Trial, { wanted }: QuotaShort): QuotaFound | null {
  const { view, domain, gangs, gpus, queue } = wanted;
  if (view.scheduler !== "kueue") return null;
  for (const keeper of keepersFor(moment, wanted)) {
    const needed = Math.max(view.allocated, view.reserved ?? 0) + gpus;
    const more = { queue, guaranteed: view.guaranteed + gpus };
    const changes: readonly QuotaChange[] = [
      { queue: keeper.index, guaranteed: keeper.view.guaranteed - gpus },
      view.limit === Infinity ? more : { ...more, limit: Math.max(needed, view.limit, more.guaranteed) },
    ];
    if (!startsAll(trial, quotaPlan(changes, gangs))) continue;
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
