import { createLivedInWorld } from "../../../simulator/cluster/step.ts";
import type { World } from "../../../simulator/cluster/world.ts";
import { askedGpus } from "../../../simulator/queues/membership.ts";
import type { Scenario } from "../../../simulator/scenario.ts";
import { quantile } from "../../../simulator/truthRecord/waitLog.ts";
import { stepUnseen } from "../cluster/stepUnseen.ts";

const hourSeconds = 3600;
const hoursOfWeek = 168;

/**
 * Demand of a scenario that is played without anybody watching it: of each week from `from` on, what 95 of 100 hours did not
 * exceed of GPUs allocated and waited for, at the full hours. Ends after `mostWeeks`, or before when `isEnough` says so.
 */
export function weeklyDemand(
  scenario: Scenario,
  seed: number,
  from: number,
  mostWeeks: number,
  isEnough: (weeks: readonly number[]) => boolean,
): readonly number[] {
  const world = createLivedInWorld(scenario, seed, from);
  const weeks: number[] = [];
  while (weeks.length < mostWeeks && !isEnough(weeks)) {
    const hours = Array.from({ length: hoursOfWeek }, () => {
      stepUnseen(world, hourSeconds);
      return demandOf(world);
    });
    weeks.push(
      quantile(
        hours.sort((a, b) => a - b),
        0.95,
      ),
    );
  }
  return weeks;
}

function demandOf({ workloads }: World): number {
  let gpus = 0;
  for (const { spec, pods } of workloads)
    gpus += (askedGpus(spec) / spec.pods) * pods.filter(({ endedAt }) => endedAt === null).length;
  return gpus;
}
