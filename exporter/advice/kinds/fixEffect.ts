import type { StarvedBorrower } from "../../analysis/fairness/fairness.ts";
import type { Finding } from "../../analysis/lint/finding.ts";
import { unsharedQuota } from "../../analysis/lint/idleQuota.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { AdviceMoment } from "../moment.ts";
import type { Plan } from "../whatIf/plan.ts";
import { quotaShorts } from "./quotaShorts.ts";
import { type Starved, starvedQueues } from "./reclaim.ts";
import { owedGangs, type WaitingFor, waitingFor } from "./waitingFor.ts";

/** The effect of fixing a finding on work that waits now. */
export interface FixEffect {
  readonly wanted: WaitingFor;
  readonly plan: Plan;
  /** What is done, with the names of the objects. */
  readonly title: string;
}

/** The effect of fixing a finding; `null` if it has no effect now, or none that can be simulated. */
export function fixEffect(moment: AdviceMoment, finding: Finding): FixEffect | null {
  switch (finding.code) {
    case "kueue-no-reclaim":
    case "kueue-reclaim-no-candidates":
      return letTakeBack(moment, finding.name);
    case "kueue-quota-not-shared":
      return intoOneCohort(moment, finding.name);
    case "volcano-keeps-surplus":
      return letVolcanoTake(moment, finding.name);
    case "kai-limit-zero":
      return withoutLimit(moment, finding.name);
    default:
      return null;
  }
}

/** The effect of letting Kueue take back what the cohort borrows, up to the guarantee of the queue. */
function letTakeBack(moment: AdviceMoment, name: string): FixEffect | null {
  const { queueing } = moment.analysis.snapshot;
  const starved = starvedQueues(moment.analysis);
  const sureOf = (record: number): number => {
    const view = queueing.queues[record];
    return view === undefined ? 0 : view.guaranteed - Math.max(view.allocated, view.reserved ?? 0);
  };
  for (const { queue } of starved) {
    const view = queueing.queues[queue];
    if (view === undefined || view.scheduler !== "kueue" || view.name !== name) continue;
    const owed = owedGangs(moment, queue, (record) => Math.min(wouldBeMoved(moment, starved, record), sureOf(record)));
    const wanted = waitingFor(moment, queue, owed);
    if (wanted === null) continue;
    const plan: Plan = { changes: [{ kind: "letReclaim", queue, policy: "Any" }], starts: wanted.starts };
    return { wanted, plan, title: `let ClusterQueue ${name} take back what its cohort borrows` };
  }
  return null;
}

/** Physical GPUs that a record of a queue could have if no setting held it back. */
function wouldBeMoved({ analysis }: AdviceMoment, all: readonly Starved[], record: number): number {
  const idle = analysis.fairness.queues[record]?.shortfallByIdleGap ?? 0;
  const { pairs = [], heldBack = null } = all.find(({ queue }) => queue === record) ?? {};
  const sumOf = (list: readonly StarvedBorrower[]): number => list.reduce((sum, { gpus }) => sum + gpus, 0);
  return idle + Math.max(sumOf(pairs), sumOf(heldBack?.pairs ?? []));
}

/**
 * The effect of putting a queue into one cohort with queues whose quota is idle: it may then hold what they leave unused as
 * well. The simulation gives it what its waiting work needs; the guarantees do not change.
 */
function intoOneCohort(moment: AdviceMoment, name: string): FixEffect | null {
  const { snapshot } = moment.analysis;
  const short = quotaShorts(moment).find(({ wanted: { view } }) => view.scheduler === "kueue" && view.name === name);
  const found = unsharedQuota(snapshot).find(
    ({ queue }) => queue.name === name && queue.domain === short?.wanted.view.domain,
  );
  if (short === undefined || found === undefined) return null;
  const { wanted } = short;
  const idle = found.lenders.reduce((sum, lender) => sum + lender.idle, 0);
  const limit = wanted.view.guaranteed + idle;
  const plan: Plan = { changes: [{ kind: "setQueue", queue: wanted.queue, limit }], starts: wanted.starts };
  const lenders = nameWords(found.lenders.map(({ view }) => view.name));
  return { wanted, plan, title: `put ClusterQueue ${name} into one cohort with ${lenders}, whose quota is unused` };
}

/** The effect of letting Volcano take back what the queue borrows, for the first queue that lacks GPUs because of it. */
function letVolcanoTake(moment: AdviceMoment, name: string): FixEffect | null {
  const { queueing } = moment.analysis.snapshot;
  const starved = starvedQueues(moment.analysis);
  for (const { queue, pairs, heldBack } of starved) {
    const isPaired = [...pairs, ...(heldBack?.pairs ?? [])].some(({ borrower }) => {
      const view = queueing.queues[borrower];
      return view?.scheduler === "volcano" && view.name === name;
    });
    const owed = isPaired ? owedGangs(moment, queue, (record) => wouldBeMoved(moment, starved, record)) : [];
    const wanted = waitingFor(moment, queue, owed);
    if (wanted === null) continue;
    const plan: Plan = { changes: [{ kind: "letReclaim", queue, policy: "Any" }], starts: wanted.starts };
    return { wanted, plan, title: `let Volcano take back what Queue ${name} borrows from Queue ${wanted.view.name}` };
  }
  return null;
}

/** The effect of removing a limit of 0 that nobody intended. */
function withoutLimit(moment: AdviceMoment, name: string): FixEffect | null {
  const { queueing } = moment.analysis.snapshot;
  const short = quotaShorts(moment).find(({ wanted }) => wanted.view.scheduler === "kai" && wanted.view.name === name);
  if (short === undefined) return null;
  const changes = queueing.queues.flatMap((queue, index) =>
    queue.scheduler === "kai" && queue.kind === "Queue" && queue.name === name && queue.limit <= gpuTolerance
      ? [{ kind: "setQueue" as const, queue: index, limit: Infinity }]
      : [],
  );
  if (changes.length === 0) return null;
  const plan: Plan = { changes, starts: short.wanted.gangs };
  return { wanted: short.wanted, plan, title: `take the limit of 0 GPUs from Queue ${name}` };
}
