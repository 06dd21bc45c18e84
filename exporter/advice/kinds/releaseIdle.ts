import { telemetryLagSeconds } from "../../join/devices.ts";
import type { WorkloadView } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { WithheldAdvice, WithheldReason } from "../../model/recommendation.ts";
import { adviceCost } from "../adviceCost.ts";
import {
  candidatesPerKind,
  type FindAdvice,
  isCandidate,
  type MadeCandidate,
  nothingFound,
  withheldPerKind,
  withhold,
} from "../candidate.ts";
import { type ActDecision, decideAct, type IdlePast, withinHabit } from "../decideAct.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName, momentIndex } from "../momentIndex.ts";
import { type InOrder, momentOrder } from "../momentOrder.ts";
import { unusedSince } from "../savedMoney.ts";
import { whyNotStop } from "../steps/autoscaled.ts";
import { stopWorkload } from "../steps/workloadSteps.ts";
import { estimateReturn } from "../usage/estimateReturn.ts";
import { habitKey } from "../usage/habit.ts";
import { nothingKnown } from "../usage/watchHabits.ts";
import type { Outcome } from "../whatIf/trial.ts";
import { findGangsToStart, type GangsToStart } from "./gangsToStart.ts";
import { groupSmallIdle, type IdleCandidate } from "./groupIdle.ts";
import { type IdleFacts, idleQuestion, idleTexts } from "./idleTexts.ts";
import { findIdleWorkloads, type IdleWorkload } from "./idleWorkloads.ts";
import {
  type AllocatedPod,
  allocatedPods,
  askRelease,
  hasWaitingPods,
  leftSignOf,
  ofWorkload,
  ownGpus,
  vetoWords,
} from "./ownGpus.ts";
import { durationWords, gpuWords } from "./words.ts";

/**
 * Finds workloads that hold GPUs on which nothing has run for longer than the windows of `idle`. Work that has never worked,
 * and work that has been idle for far longer than its habit, is to be released; the owners of the rest are asked, except where
 * work is idle as it always is before it works again. Those with the most GPUs come first, then those that have been idle
 * longest.
 */
export const findReleaseIdle: FindAdvice = (moment) => {
  const { analysis } = moment;
  const { snapshot } = analysis;
  if (analysis.pools.every(({ states }) => (states.idle ?? 0) <= gpuTolerance)) return nothingFound;
  const found = findIdleWorkloads(analysis);
  const estimated = `${gpuWords(found.estimatedGpus)} idle GPUs are allocated to workloads whose devices are not known`;
  const withheld =
    found.estimatedGpus > 0 ? [withhold("release_idle")("holdings that are estimated", "guard", estimated)] : [];
  if (found.workloads.length === 0) return { candidates: [], withheld };
  const ranked = rank(found.workloads, momentOrder(analysis).workloads);
  const toStart = findGangsToStart(analysis);
  const { maxMoves } = moment.settings;
  const offered: IdleCandidate[] = [];
  for (const idle of ranked.slice(0, candidatesPerKind * maxMoves + withheldPerKind)) {
    const workload = snapshot.workloads[idle.workload];
    if (workload === undefined) continue;
    const made = candidateOf(moment, idle, workload, toStart);
    if (isCandidate(made))
      offered.push({ candidate: made, gpus: idle.gpus, name: fullName(workload), since: idle.since });
    else withheld.push(made);
  }
  return { candidates: groupSmallIdle(offered, maxMoves), withheld: withheld.slice(0, withheldPerKind) };
};

function rank(found: readonly IdleWorkload[], byWorkload: InOrder): readonly IdleWorkload[] {
  return [...found].sort((a, b) => b.gpus - a.gpus || a.since - b.since || byWorkload(a.workload, b.workload));
}

function candidateOf(
  moment: AdviceMoment,
  idle: IdleWorkload,
  workload: WorkloadView,
  toStart: GangsToStart,
): MadeCandidate {
  const { snapshot } = moment.analysis;
  const none = (why: WithheldReason, reason: string): WithheldAdvice =>
    withhold("release_idle")(fullName(workload), why, reason);
  // The owner of a server without requests is asked to change the setting that keeps it running.
  const kept = idle.reason === "no-activity" ? null : whyNotStop(snapshot, workload);
  const what = `${gpuWords(idle.gpus)} idle GPUs for ${durationWords(snapshot.at - idle.since)}`;
  if (hasWaitingPods(snapshot, workload)) return none("no-plan", `${what}, but other pods of it wait`);
  const allocated = allocatedPods(snapshot, workload);
  if (allocated === null || allocated.length === 0)
    return none("guard", "the API does not know one of its pods: telemetry alone names it");
  const guards = askRelease(moment, allocated);
  const veto = vetoWords(guards);
  if (veto !== null) return none("guard", `${what}: ${veto}`);
  // Work that no request stops, or that would be started again, is not asked about either.
  const stopped = stopWorkload(moment, idle.workload);
  if (!stopped.ok && kept === null) return none("no-plan", `${what}: ${stopped.reason}`);
  const past = pastOf(moment, idle, workload, allocated);
  const usual = past.neverWorked ? null : withinHabit(past, moment.settings);
  if (usual !== null) return none("worth", `${what}: ${usual}`);
  const disrupted = allocated.map(({ index }) => index);
  const untouched = past.neverWorked ? disrupted : [];
  const idleHours = idleHoursLeft(moment, past);
  const cost = adviceCost(moment, { disrupted, untouched });
  const worth = { gainedGpuHours: idle.gpus * idleHours, lostGpuHours: cost.lostGpuHours };
  const decision: ActDecision =
    kept === null
      ? decideAct({ kind: "release_idle", idle: past, ...worth }, moment.settings)
      : { act: "ask", reasons: [kept] };
  const own = ownGpus(moment, allocated);
  const facts: IdleFacts = { moment, idle, workload, allocated, own, past, idleHours, cost, decision, kept };
  const id = `${workload.kind}/${fullName(workload)}`;
  const released = (outcome: Outcome): number => outcome.released.get(idle.workload) ?? 0;
  return {
    kind: "release_idle",
    ...ofWorkload(workload, own),
    ...idleTexts(facts),
    plan: { changes: [{ kind: "stop", workload: idle.workload }], starts: toStart(own) },
    steps: decision.act === "ask" || !stopped.ok ? [] : stopped.steps,
    questions: [idleQuestion(facts)],
    decision,
    ...(past.neverWorked ? {} : { habit: past.estimate }),
    disrupted,
    untouched,
    gainedGpus: released,
    gainedGpuHours: (outcome) => released(outcome) * idleHours,
    unused: unusedSince(own.byNode, idle.since),
    guards: guards.checked,
    blockedAlternatives: [],
    signs: [leftSignOf(allocated)],
    measuredBy: { kind: "work-released", work: [id], gpus: idle.gpus },
  };
}

/**
 * If nothing holds its first pods up, they are bound at most this long after work was created (seconds). If they were bound
 * later, earlier pods may have come and gone without a record.
 */
const firstStartSeconds = 900;

/** The known past of idle work. */
function pastOf(
  moment: AdviceMoment,
  idle: IdleWorkload,
  workload: WorkloadView,
  allocated: readonly AllocatedPod[],
): IdlePast {
  const { settings, analysis, habits = nothingKnown } = moment;
  const idleSeconds = Math.max(0, analysis.snapshot.at - idle.since);
  const habit = habits.known.get(habitKey(workload));
  return {
    idleSeconds,
    neverWorked:
      habit?.hasWorked !== true &&
      isWatchedWhole(workload, allocated, habits.since) &&
      nothingEverRan(moment, allocated),
    habit,
    estimate: estimateReturn(
      idleSeconds,
      settings.horizonHours,
      habit?.spells ?? [],
      habits.cluster,
      settings.publishedReturns,
    ),
  };
}

/** Whether the workload was watched for its whole lifetime: earlier pods that nobody watched may have worked. */
function isWatchedWhole(
  { createdAt }: WorkloadView,
  allocated: readonly AllocatedPod[],
  watchedSince: number | null,
): boolean {
  if (createdAt === null) return false;
  if (watchedSince !== null && watchedSince <= createdAt) return true;
  const first = Math.min(...allocated.map(({ pod }) => pod.boundAt ?? Number.POSITIVE_INFINITY));
  return first - createdAt <= firstStartSeconds;
}

/**
 * Whether every sample of every device of these pods was idle since they were bound: a sample from before, when another pod
 * had the device, may arrive a little later.
 */
function nothingEverRan({ analysis }: AdviceMoment, allocated: readonly AllocatedPod[]): boolean {
  const { devices } = analysis.snapshot;
  const index = momentIndex(analysis);
  return allocated.every(({ index: pod, pod: { boundAt } }) => {
    const own = index.devicesOf(pod).flatMap((device) => devices[device]?.holders ?? []);
    const holdings = own.filter((holder) => holder.pod === pod);
    return (
      boundAt !== null &&
      holdings.length > 0 &&
      holdings.every(({ idleSince }) => idleSince !== null && idleSince <= boundAt + telemetryLagSeconds)
    );
  });
}

/**
 * For how many more hours within the horizon work is expected to be idle. Its habit decides; work that has never worked is
 * expected to be idle for as long again as it has been.
 */
function idleHoursLeft({ settings }: AdviceMoment, { neverWorked, idleSeconds, estimate }: IdlePast): number {
  return neverWorked ? Math.min(settings.horizonHours, idleSeconds / 3600) : estimate.expectedIdleHours;
}
