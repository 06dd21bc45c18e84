import { step } from "../../../simulator/cluster/step.ts";
import type { World } from "../../../simulator/cluster/world.ts";

/** A step of a world that nobody watches: what an API would be sent of it is forgotten. */
export function stepUnseen(world: World, seconds: number): void {
  step(world, seconds, () => false);
  for (const changed of [world.dirtyNodes, world.dirtyPods, world.dirtyGpus, world.removedPods]) changed.clear();
  for (const changed of [world.newWorkloads, world.removedWorkloads, world.removedExporterPods, world.appliedAgain])
    changed.clear();
}
