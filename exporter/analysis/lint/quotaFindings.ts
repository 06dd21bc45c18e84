import { domainFinder } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import type { Finding } from "./finding.ts";

const tolerance = 1e-6;

/**
 * Domains in which a scheduler's queues are promised more GPUs than there are cards: by their physical number, so that a
 * cordon or a broken node is not taken for it.
 */
export function quotaFindings({ queueing, nodes, devices, unpartitioned }: Snapshot): readonly Finding[] {
  const isPromised = queueing.queues.some(({ declaredGuarantee }) => (declaredGuarantee ?? 0) > tolerance);
  if (!isPromised) return [];
  const domainOf = domainFinder(queueing.domains);
  const physical = new Map<number | null, number>();
  for (const { pool, node, weight } of [...devices, ...unpartitioned]) {
    const domain = domainOf(pool, node);
    physical.set(domain, (physical.get(domain) ?? 0) + weight);
  }
  const uncounted = new Set(
    nodes.flatMap(({ name, pools, physicalGpus }) =>
      physicalGpus === null ? pools.map((pool) => domainOf(pool, name)) : [],
    ),
  );
  return queueing.queues.flatMap(({ kind, scheduler, domain: index, declaredGuarantee: promised }): Finding[] => {
    const domain = queueing.domains[index];
    if (kind !== "Scheduler" || promised === undefined || domain === undefined) return [];
    if (uncounted.has(index)) return [];
    const cards = physical.get(index) ?? 0;
    if (cards === 0 || promised <= cards + tolerance) return [];
    const over = rounded(promised - cards);
    return [
      {
        code: "quota-above-capacity",
        scheduler,
        kind: "QuotaDomain",
        name: domain.name,
        reason: `${nameOf[scheduler]} are promised ${rounded(promised)} GPUs together, but ${rounded(cards)} are there: ${over} too many. Not all can have what they are sure of at the same time, and work may be admitted that finds no node.`,
        change: `Lower guarantees by ${over} GPUs in all, or add nodes to ${domain.name}.`,
      },
    ];
  });
}

const nameOf = {
  kueue: "ClusterQueues and Cohorts (nominalQuota)",
  kai: "Top queues (quota)",
  volcano: "Queues (guarantee or deserved)",
  none: "Teams (guarantee)",
} as const;

const rounded = (gpus: number): number => Math.round(gpus * 1000) / 1000;
