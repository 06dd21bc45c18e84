import { kaiNames } from "../../exporter/model/wellKnown.ts";
import { kaiShares } from "../queues/kaiFairShare.ts";
import { allocatedByQueue } from "../queues/kaiRules.ts";
import { pastUse, withinWindow } from "../queues/pastUse.ts";
import { wantedPods } from "./owners.ts";
import { isSchedulable } from "./placement.ts";
import type { World } from "./world.ts";

/** Records what KAI's queues hold now, for a step of this many seconds; does nothing if past use does not count. */
export function noteUse(world: World, seconds: number): void {
  const { kai } = world.scenario.queueing;
  if (kai?.history === undefined) return;
  const running = worksOf(world).filter(({ admittedAt }) => admittedAt !== null);
  const sample = {
    at: world.time,
    seconds,
    allocated: allocatedByQueue(kai.queues, running),
    capacity: capacityOf(world),
  };
  world.pastUse = [...withinWindow(world.pastUse, kai.history, world.time), sample];
}

/** KAI's fair shares at this moment, GPUs by queue; `null` where past use does not count. */
export function sharesByUse(world: World): ReadonlyMap<string, number> | null {
  const { kai } = world.scenario.queueing;
  if (kai?.history === undefined) return null;
  const { queues, history } = kai;
  return kaiShares(queues, capacityOf(world), {
    requested: allocatedByQueue(queues, worksOf(world)),
    use: pastUse(world.pastUse, history, world.time),
    kValue: history.kValue,
  });
}

/** All work that runs in KAI's queues or waits in them. */
function worksOf(world: World) {
  return [...world.workloads].filter(
    (each) => each.system === "kai" && each.endedTime === null && each.active && wantedPods(each) > 0,
  );
}

/** The number of GPUs that may be used on the nodes of the shard. */
function capacityOf({ nodes, scenario }: World): number {
  const nodePool = scenario.queueing.kai?.nodePool ?? null;
  const inShard = nodes.filter(
    (node) => isSchedulable(node) && (node.spec.labels[kaiNames.nodePool] ?? null) === nodePool,
  );
  return inShard.reduce((sum, { physicalGpus }) => sum + physicalGpus.filter(({ healthy }) => healthy).length, 0);
}
