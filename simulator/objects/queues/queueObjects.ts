import type { World } from "../../cluster/world.ts";
import type { KindedObject } from "../kubeObject.ts";
import { kaiObjects } from "./kai.ts";
import { kueueObjects } from "./kueue.ts";
import { volcanoObjects } from "./volcano.ts";

/** All objects of the queue systems that the scenario has. */
export function queueObjects(world: World): readonly KindedObject[] {
  const { kueue, kai, volcano } = world.scenario.queueing;
  return [
    ...(kueue === null ? [] : kueueObjects(world, kueue)),
    ...(kai === null ? [] : kaiObjects(world, kai)),
    ...(volcano === null ? [] : volcanoObjects(world, volcano)),
  ];
}
