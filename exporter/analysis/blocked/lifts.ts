import type { Blocker } from "../../model/blockers.ts";
import { toleratesAll } from "../../model/queues/nodeMatch.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import { onlyModelLabels, withoutModelLabels } from "../freeCapacity/modelRules.ts";

/** What pods would ask for if one of the things that may block them did not count. */
export interface Lift {
  readonly blocker: Blocker;
  readonly lifted: (needs: PodNeeds) => PodNeeds;
}

/** In the order of `blockers`. A node with as much CPU as anyone likes is for a pod as one that asks for none. */
export const lifts: readonly Lift[] = [
  { blocker: "cpu", lifted: (needs) => without(needs, "cpu") },
  { blocker: "memory", lifted: (needs) => without(needs, "memory") },
  { blocker: "cpu_and_memory", lifted: (needs) => without(without(needs, "cpu"), "memory") },
  { blocker: "model", lifted: withoutModelLabels },
  { blocker: "selector", lifted: (needs) => ({ ...onlyModelLabels(needs), tolerations: toleratesAll }) },
];

function without(needs: PodNeeds, resource: "cpu" | "memory"): PodNeeds {
  if ((needs.requests[resource] ?? 0) === 0) return needs;
  return { ...needs, requests: { ...needs.requests, [resource]: 0 } };
}
