import type { NodeView } from "../../join/snapshot.ts";
import type { DisruptedPod, MeasuredBy } from "../offer.ts";
import { heldGpus, type Sight } from "./sight.ts";

/** Physical GPUs that the beneficiary of advice has gained by now: the same number as was predicted. */
export function measuredGpus(by: MeasuredBy, sight: Sight): number {
  const { pods, devices } = sight.analysis.snapshot;
  switch (by.kind) {
    case "work-started":
      return heldBy(by.work, sight);
    case "work-released":
      return Math.max(0, by.gpus - heldBy(by.work, sight));
    case "work-restarted":
      return by.pods.reduce((sum, { uid, gpus }) => (sight.held(uid) === undefined ? sum + gpus : sum), 0);
    case "nodes-removed":
      return by.nodes.reduce((sum, { name, gpus }) => (isIn(sight.node(name)) ? sum : sum + gpus), 0);
    case "whole-nodes":
      return by.nodes.reduce((sum, name) => {
        const node = sight.node(name);
        return node !== undefined && node.heldByPods === 0 ? sum + (node.physicalGpus ?? 0) : sum;
      }, 0);
    case "observed": {
      const nodes = new Set(by.nodes);
      return devices
        .filter(({ node, reading }) => reading !== null && nodes.has(node))
        .flatMap(({ holders }) => holders)
        .filter(({ pod }) => pods[pod] !== undefined)
        .reduce((sum, { share }) => sum + share, 0);
    }
  }
}

/** A node that is there, and takes pods. */
const isIn = (node: NodeView | undefined): boolean => node !== undefined && node.schedulable !== false;

/** Each workload counts once, by whichever name it is known. */
function heldBy(work: readonly string[], sight: Sight): number {
  const { pods } = sight.analysis.snapshot;
  const found = new Set(work.flatMap((name) => sight.workloads(name)));
  return [...found].reduce((sum, workload) => sum + heldGpus(workload, pods), 0);
}

/**
 * GPU-hours of work that is done again, of the pods that have left their nodes without having ended by themselves: from their
 * start or last checkpoint until `at`, and the restart itself.
 */
export function measuredLoss(
  disrupted: readonly DisruptedPod[],
  sight: Sight,
  at: number,
  restartMinutes: number,
): number {
  const { endedPods } = sight.analysis.snapshot;
  return disrupted
    .filter(({ uid }) => sight.held(uid) === undefined && !endedPods.has(uid))
    .reduce((sum, { gpus, workSince }) => sum + lostGpuHours(gpus, workSince, at, restartMinutes), 0);
}

/** GPU-hours that are lost with a pod at a moment: its work since then (`null`: none is done again), and its restart. */
export function lostGpuHours(gpus: number, workSince: number | null, at: number, restartMinutes: number): number {
  const work = workSince === null ? 0 : Math.max(0, at - workSince) / 3600;
  return gpus * (work + restartMinutes / 60);
}
