import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { PoolRoom } from "../rooms/rooms.ts";
import type { PoolPlacement } from "./poolPlacement.ts";

/**
 * Nodes of which every GPU is free, and the most that could be: what is held on whole cards is moved together, onto nodes
 * with most GPUs. With F free GPUs these are the nodes with fewest GPUs, as many as have at most F together; floor(F / cap)
 * of nodes with `cap` GPUs each. Nodes with replicas or MIG instances count as they are: what they hold cannot be moved to
 * any card. An upper bound: neither CPU, memory nor rules are looked at, and a pod may be divided.
 */
export function wholeNodes(
  rooms: readonly PoolRoom[],
): Pick<PoolPlacement, "wholeFreeNodes" | "possibleWholeFreeNodes"> {
  let [whole, asTheyAre, free] = [0, 0, 0];
  const sizes: number[] = [];
  for (const { now, wholeCards, hasOnlyWholeCards, isWhollyFree } of rooms) {
    if (isWhollyFree) whole += 1;
    if (hasOnlyWholeCards) sizes.push(wholeCards);
    else if (isWhollyFree) {
      asTheyAre += 1;
      continue;
    }
    for (const card of now?.cards ?? []) free += card;
  }
  sizes.sort((a, b) => a - b);
  let possible = asTheyAre;
  let left = free + gpuTolerance;
  for (const size of sizes) {
    left -= size;
    if (left < 0) break;
    possible += 1;
  }
  return { wholeFreeNodes: whole, possibleWholeFreeNodes: possible };
}
