import type { Snapshot } from "../../join/snapshot.ts";
import { gpuLikeResource } from "../../model/gpuResource.ts";
import type { UsageHistory } from "../fairness/fairness.ts";
import { kaiViews } from "./kaiViews.ts";
import { kueueViews } from "./kueueViews.ts";
import type { SchedulerView } from "./schedulerView.ts";
import { type VolcanoPlugin, volcanoViews } from "./volcanoViews.ts";

/**
 * The numbers by which each scheduler itself judges its queues, computed from the objects by its own formula, next to what it
 * reports. A lasting difference means that Fairlead and the scheduler read the configuration differently.
 */
export function schedulerViews(
  { queueing, queueObjects, schedulerSettings }: Snapshot,
  volcanoPlugin: VolcanoPlugin,
  history: UsageHistory | null,
): readonly SchedulerView[] {
  const isGpu = (resource: string): boolean => gpuLikeResource(resource);
  const ofKueue = kueueViews(queueObjects, schedulerSettings.kueue, isGpu);
  const ofKai = kaiViews(queueing, queueObjects, history, isGpu);
  return [...ofKueue, ...ofKai, ...volcanoViews(queueing, queueObjects, volcanoPlugin, isGpu)];
}
