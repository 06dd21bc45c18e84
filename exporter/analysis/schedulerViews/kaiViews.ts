import type { Queueing, QueueView } from "../../join/queues/queueing.ts";
import type { ResourceAmounts } from "../../model/node.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import type { UsageHistory } from "../fairness/fairness.ts";
import { kaiFairShares } from "./kaiFairShare.ts";
import type { SchedulerView } from "./schedulerView.ts";

/** KAI's fair shares in each shard's domain, level by level, and its own count of what each queue holds. */
export function kaiViews(
  queueing: Queueing,
  objects: QueueObjects,
  history: UsageHistory | null,
  isGpu: (resource: string) => boolean,
): readonly SchedulerView[] {
  const byName = new Map(objects.kaiQueues.map((queue) => [queue.name, queue] as const));
  const views: SchedulerView[] = [];
  const roots = rootsByDomain(queueing);
  for (const [i, domain] of queueing.domains.entries()) {
    const root = roots.get(i);
    if (root === undefined || domain.unknownBecause !== null) continue;
    const plain = sharesBelow(queueing, byName, root, domain.capacity, isGpu, null);
    for (const [name, value] of plain) views.push(shareView("kai-fair-share", name, domain.name, value));
    if (history === null) continue;
    const usageOf = (name: string): number => history.usage.get(`kai/Queue/${name}/${domain.name}`) ?? 0;
    const aware = sharesBelow(queueing, byName, root, domain.capacity, isGpu, { usageOf, kValue: history.kValue });
    for (const [name, value] of aware) views.push(shareView("kai-fair-share-with-history", name, domain.name, value));
  }
  return [...views, ...allocatedViews(queueing, objects, isGpu)];
}

/** The root of KAI's queues in each domain in which it has any. */
function rootsByDomain({ queues }: Queueing): ReadonlyMap<number, number> {
  const roots = new Map<number, number>();
  for (let i = 0; i < queues.length; i++) {
    const { scheduler, kind, domain = -1 } = queues[i] ?? {};
    if (scheduler === "kai" && kind === "Scheduler" && !roots.has(domain)) roots.set(domain, i);
  }
  return roots;
}

/** What the queues of KAI hold, by pods and as KAI reports it. */
function allocatedViews(
  { queues }: Queueing,
  { kaiQueues }: QueueObjects,
  isGpu: (resource: string) => boolean,
): readonly SchedulerView[] {
  if (kaiQueues.length === 0) return [];
  const byPods = new Map<string, number>();
  for (const { scheduler, kind, name, allocated: gpus } of queues) {
    if (scheduler === "kai" && kind !== "Scheduler") byPods.set(name, (byPods.get(name) ?? 0) + gpus);
  }
  return kaiQueues.flatMap(({ name, allocated }) => {
    if (allocated === null) return [];
    const reported = gpusIn(allocated, isGpu);
    const base = { scheduler: "kai", number: "kai-allocated-gpus", kind: "Queue", shard: "" } as const;
    return [{ ...base, name, computed: byPods.get(name) ?? null, reported }];
  });
}

function shareView(number: SchedulerView["number"], name: string, shard: string, computed: number): SchedulerView {
  return { scheduler: "kai", number, kind: "Queue", name, shard, computed, reported: null };
}

interface Past {
  readonly usageOf: (name: string) => number;
  readonly kValue: number;
}

function sharesBelow(
  queueing: Queueing,
  byName: ReadonlyMap<string, QueueObjects["kaiQueues"][number]>,
  parent: number,
  total: number,
  isGpu: (resource: string) => boolean,
  past: Past | null,
): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  const open: { readonly index: number; readonly total: number }[] = [{ index: parent, total }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const children = (queueing.queues[next.index]?.children ?? []).flatMap((index) => {
      const view = queueing.queues[index];
      return view === undefined ? [] : [{ index, view }];
    });
    if (children.length === 0) continue;
    const inputs = children.map(({ view }) => inputOf(view, byName.get(view.name), isGpu, past));
    const found = kaiFairShares(inputs, next.total, past?.kValue ?? 0);
    for (const { index, view } of children) {
      const share = found.get(view.name) ?? 0;
      shares.set(view.name, share);
      open.push({ index, total: share });
    }
  }
  return shares;
}

/** The input of KAI's division. Its own count of requests includes work that can never run, unlike Fairlead's. */
function inputOf(
  view: QueueView,
  object: QueueObjects["kaiQueues"][number] | undefined,
  isGpu: (resource: string) => boolean,
  past: Past | null,
) {
  const counted = object?.requested ?? null;
  return {
    name: view.name,
    createdAt: object?.createdAt ?? null,
    priority: view.priority,
    quota: view.guaranteed,
    limit: view.limit,
    overQuotaWeight: view.weight,
    requested: counted === null ? view.allocated + view.pending : gpusIn(counted, isGpu),
    usage: past?.usageOf(view.name) ?? 0,
  };
}

function gpusIn(amounts: ResourceAmounts, isGpu: (resource: string) => boolean): number {
  return Object.entries(amounts).reduce((sum, [resource, amount]) => (isGpu(resource) ? sum + amount : sum), 0);
}
