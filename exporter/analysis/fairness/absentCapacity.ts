import type { Queueing } from "../../join/queues/queueing.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { AbsentOwner } from "../../model/shortfall.ts";
import type { Shortfall } from "./shortfall.ts";
import type { SharedUnit } from "./units.ts";
import { sumOf } from "./waterFill.ts";

/**
 * Who can fix that guarantees have no nodes, for each leaf (index into `SharedUnit.nodes`) that lacks any. In each domain the
 * missing amount is attributed in this order: pods outside the queues hold it, nodes are lost, nodes are still to come; the
 * rest is promised twice. Each leaf's part is divided in the same proportion as that of its domain.
 */
export function absentOwners(
  { domains, nodes, unqueued }: SharedUnit,
  queueing: Queueing,
  shortfalls: ReadonlyMap<number, Shortfall>,
): ReadonlyMap<number, ReadonlyMap<AbsentOwner, number>> {
  const found = new Map<number, ReadonlyMap<AbsentOwner, number>>();
  for (const domain of domains) {
    const leaves = [...shortfalls].filter(
      ([node, { absent }]) => nodes[node]?.queue.domain === domain && absent > gpuTolerance,
    );
    const missing = sumOf(leaves.map(([, { absent }]) => absent));
    if (missing <= gpuTolerance) continue;
    const past = sumOf(unqueued.filter(({ queue }) => queue.domain === domain).map(({ queue }) => queue.allocated));
    const { outOfService = 0, allocatedOnUnschedulable = 0 } = queueing.domains[domain] ?? {};
    const lost = outOfService + allocatedOnUnschedulable;
    const owners = laidTo(missing, [
      ["past_queues", past],
      ["lost_node", lost],
      ["node_to_come", nodesToCome(queueing, domain)],
    ]);
    for (const [node, { absent }] of leaves)
      found.set(node, new Map(owners.map(([owner, gpus]) => [owner, (gpus * absent) / missing] as const)));
  }
  return found;
}

function laidTo(
  missing: number,
  amounts: readonly (readonly [AbsentOwner, number])[],
): readonly (readonly [AbsentOwner, number])[] {
  let left = missing;
  const found: (readonly [AbsentOwner, number])[] = [];
  for (const [owner, gpus] of [...amounts, ["promised_twice", Number.POSITIVE_INFINITY] as const]) {
    const part = Math.min(left, gpus);
    if (part <= gpuTolerance) continue;
    found.push([owner, part]);
    left -= part;
  }
  return found;
}

/** Physical GPUs of work that has its quota and waits for nodes that are being created for it. */
function nodesToCome({ gangs }: Queueing, domain: number): number {
  let gpus = 0;
  for (const { parts, awaitsNodes } of gangs)
    if (awaitsNodes === true)
      for (const part of parts) if (part.domain === domain) gpus += part.pods * (part.gpusPerPod ?? 0);
  return gpus;
}
