import type { Analysis } from "../../analysis/analysis.ts";
import { couldTake } from "../../analysis/freeCapacity/nodeRules.ts";
import type { NodeView, Snapshot } from "../../join/snapshot.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";

/** Whether queues could not be read. In that case it is not known what waits, and for what. */
export const isWaitingUnknown = ({ problems }: Snapshot): boolean =>
  problems.some(({ code }) => code === "queues-unknown");

/**
 * The name of eligible waiting work that the labels and taints of one of these nodes admit, whatever keeps the work waiting;
 * `null` if there is none. Work with an unknown number of GPUs counts.
 */
export function waitsForNodes({ snapshot }: Analysis, nodes: readonly NodeView[]): string | null {
  const { gangs, domains } = snapshot.queueing;
  const pools = new Set(nodes.flatMap((node) => node.pools));
  /** The most GPUs of a node that takes such pods, by the needs of the pods: pods with the same needs share the object. */
  const largest = new Map<PodNeeds, number>();
  const largestFor = (needs: PodNeeds): number => {
    const known = largest.get(needs);
    if (known !== undefined) return known;
    const found = Math.max(-1, ...nodes.map((node) => (couldTake(node, needs) ? (node.physicalGpus ?? 0) : -1)));
    largest.set(needs, found);
    return found;
  };
  for (const gang of gangs) {
    if (gang.never !== null) continue;
    // Work outside of queue systems is in a domain only for accounting: the scheduler may place it in any pool.
    const isAnywhere = gang.scheduler === "none";
    const isServed = gang.parts.some(({ needs, ...counted }) =>
      [counted, ...(counted.places ?? [])].some(({ domain, gpusPerPod }) => {
        if (gpusPerPod === 0) return false;
        const isElsewhere = domain !== null && !(domains[domain]?.pools ?? []).some((pool) => pools.has(pool));
        return (isAnywhere || !isElsewhere) && (gpusPerPod ?? 0) <= largestFor(needs);
      }),
    );
    if (isServed) return `${gang.kind} ${gang.namespace}/${gang.name}`;
  }
  return null;
}
