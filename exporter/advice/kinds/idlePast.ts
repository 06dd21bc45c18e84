import { telemetryLagSeconds } from "../../join/devices.ts";
import type { WorkloadView } from "../../join/snapshot.ts";
import type { IdlePast } from "../decideAct.ts";
import type { AdviceMoment } from "../moment.ts";
import { estimateReturn } from "../usage/estimateReturn.ts";
import { habitKey } from "../usage/habitKey.ts";
import { nothingKnown } from "../usage/watchHabits.ts";
import { momentIndex } from "../whatIf/momentIndex.ts";
import type { IdleWorkload } from "./idleWorkloads.ts";
import type { AllocatedPod } from "./ownGpus.ts";

/** Work is made at most so long before its first pods are bound, where nothing holds them up: what came before is not known. */
const firstStartSeconds = 900;

/** What is known of the past of idle work. */
export function pastOf(
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

/** Whether no pods came before these without having been watched: they may have worked. */
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
 * Whether every sample of every device of these pods was idle from when they were bound: one that telemetry took before, when
 * someone else had the device, may come a little later.
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
