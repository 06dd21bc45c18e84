import type { QueueView } from "../../join/queues/queueing.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { ClusterCopy } from "./clusterCopy.ts";
import type { Change } from "./plan.ts";
import { countInQueue } from "./queueAccounts.ts";

/**
 * Gives a queue another guarantee or limit. What it is sure of is part of what the cohorts and the root above it are sure
 * of. Kueue's limit is the quota and what may be borrowed beside it: unless the plan says more, it goes with the guarantee.
 */
export function setQueue(
  copy: ClusterCopy,
  { queue: index, guaranteed, limit }: Extract<Change, { kind: "setQueue" }>,
): void {
  const queue = copy.queues[index];
  if (queue === undefined) return;
  const sure = Math.max(0, guaranteed ?? queue.guaranteed);
  const more = sure - queue.guaranteed;
  const follows = queue.scheduler === "kueue" ? queue.limit + more : queue.limit;
  copy.setQueue(index, { ...queue, guaranteed: sure, limit: Math.max(0, limit ?? follows) });
  for (let next = queue.parent; next !== null; ) {
    const above: QueueView | undefined = copy.queues[next];
    if (above === undefined || !(above.kind === "Scheduler" || above.kind === "Cohort")) break;
    const { declaredGuarantee: declared } = above;
    copy.setQueue(next, {
      ...above,
      guaranteed: Math.max(0, above.guaranteed + more),
      limit: above.kind === "Cohort" ? Math.max(0, above.limit + more) : limitOfAll(copy, above),
      ...(declared === undefined ? {} : { declaredGuarantee: Math.max(0, declared + more) }),
    });
    next = above.parent;
  }
  admitBelow(copy, index);
}

const limitOfAll = ({ queues }: ClusterCopy, { children }: QueueView): number =>
  children.reduce((sum, child) => sum + (queues[child]?.limit ?? 0), 0);

/** Work that asked for more than its queue might ever hold is demand when it asks for less than all limits on its way. */
function admitBelow(copy: ClusterCopy, top: number): void {
  // Not by recursion: someone may write a chain of thousands.
  const open = [top];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    admitIn(copy, index);
    for (const child of (copy.queues[index]?.children ?? []).toReversed()) open.push(child);
  }
}

function admitIn(copy: ClusterCopy, index: number): void {
  const { gangs = [] } = copy.queues[index] ?? {};
  if (gangs.length === 0) return;
  let limit = Number.POSITIVE_INFINITY;
  for (let next: number | null = index; next !== null; ) {
    const queue: QueueView | undefined = copy.queues[next];
    limit = Math.min(limit, queue?.limit ?? 0);
    next = queue?.parent ?? null;
  }
  for (const place of gangs) {
    const gang = copy.gangs[place];
    if (gang?.never !== "above-limit" || gang.gpus === null || gang.gpus > limit + gpuTolerance) continue;
    if (gang.parts.some(({ queue }) => queue !== index)) continue;
    copy.setGang(place, { ...gang, never: null });
    countInQueue(copy, index, { team: gang.team, pending: gang.gpus });
  }
}
