import type { NodeView } from "../../join/snapshot.ts";
import type { DisruptedPod, MeasuredBy } from "../offer.ts";
import { allocatedGpus, type MomentIndex } from "./momentIndex.ts";

/** Physical GPUs that the beneficiary of advice has gained by now: the same number as was predicted. */
export function measuredGpus(by: MeasuredBy, moment: MomentIndex): number {
  const { pods, devices } = moment.analysis.snapshot;
  switch (by.kind) {
    case "work-started":
      return allocatedBy(by.work, moment);
    case "work-released":
      return Math.max(0, by.gpus - allocatedBy(by.work, moment));
    case "work-restarted":
      return by.pods.reduce((sum, { uid, gpus }) => (moment.allocated(uid) === undefined ? sum + gpus : sum), 0);
    case "nodes-removed":
      return by.nodes.reduce((sum, { name, gpus }) => (isIn(moment.node(name)) ? sum : sum + gpus), 0);
    case "whole-nodes":
      return by.nodes.reduce((sum, name) => {
        const node = moment.node(name);
        return node !== undefined && node.allocatedByPods === 0 ? sum + (node.physicalGpus ?? 0) : sum;
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
function allocatedBy(work: readonly string[], moment: MomentIndex): number {
  const { pods } = moment.analysis.snapshot;
  const found = new Set(work.flatMap((name) => moment.workloads(name)));
  return [...found].reduce((sum, workload) => sum + allocatedGpus(workload, pods), 0);
}

/**
 * GPU-hours of work that is done again, of the pods that have left their nodes without having ended by themselves: from their
 * start or last checkpoint until `at`, and the restart itself.
 */
export function measuredLoss(
  disrupted: readonly DisruptedPod[],
  moment: MomentIndex,
  at: number,
  restartMinutes: number,
): number {
  const { endedPods } = moment.analysis.snapshot;
  return disrupted
    .filter(({ uid }) => moment.allocated(uid) === undefined && !endedPods.has(uid))
    .reduce((sum, { gpus, workSince }) => sum + lostGpuHours(gpus, workSince, at, restartMinutes), 0);
}

/** GPU-hours that are lost with a pod at a moment: its work since then (`null`: none is done again), and its restart. */
export function lostGpuHours(gpus: number, workSince: number | null, at: number, restartMinutes: number): number {
  const work = workSince === null ? 0 : Math.max(0, at - workSince) / 3600;
  return gpus * (work + restartMinutes / 60);
}
