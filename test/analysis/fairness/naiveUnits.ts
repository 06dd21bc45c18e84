import { guaranteesOf } from "../../../exporter/analysis/fairness/guarantees.ts";
import type { Queueing, QueueView } from "../../../exporter/join/queues/queueing.ts";
import type { TreeNode } from "./entitledNode.ts";
import { grow, kept, lendable, ownOf, sureOf, type Tree } from "./naiveEntitle.ts";

/** One record of a queue with all that a moment says about it; what is on nodes that take no pods is left out. */
export interface NaiveRecord {
  /** Index into `Queueing.queues`. */
  readonly index: number;
  readonly queue: QueueView;
  /** Of the records of the unit. */
  readonly parent: number | null;
  readonly limit: number;
  readonly kept: number;
  /** Of `kept`: not of its children. */
  readonly local: number;
  readonly quota: number;
  readonly sure: number;
  /** Held within its guarantee. */
  readonly own: number;
  /** By class of its domain. */
  readonly allocated: readonly number[];
}

/** Work that waits in one record, and where it may go. */
export interface NaiveItem {
  readonly gpus: number;
  readonly places: readonly { readonly record: number; readonly classes: readonly number[] }[];
}

/** What is divided as one, read from the moment by other means than `unitsOf`. */
export interface NaiveUnit {
  readonly domains: readonly number[];
  readonly records: readonly NaiveRecord[];
  readonly items: readonly NaiveItem[];
  /** By domain, then class. */
  readonly capacity: ReadonlyMap<number, readonly number[]>;
}

const sum = (amounts: readonly number[]): number => amounts.reduce((a, b) => a + b, 0);

/** What a leaf holds in each of so many classes, on nodes that take pods. */
function allocatedByClass(
  { allocated, allocatedOnUnschedulable, allocatedByClass: reported }: QueueView,
  count: number,
): readonly number[] {
  if (count === 1) return [allocated - allocatedOnUnschedulable];
  return Array.from(
    { length: count },
    (_, i) => (reported?.[i]?.allocated ?? 0) - (reported?.[i]?.allocatedOnUnschedulable ?? 0),
  );
}

/** Domains that waiting work connects. */
export function naiveUnits(queueing: Queueing): readonly NaiveUnit[] {
  const unitOfDomain = queueing.domains.map((_, domain) => domain);
  for (const { parts } of queueing.gangs)
    for (const { domain, places = [] } of parts)
      for (const place of places) {
        const [from, to] = [unitOfDomain[place.domain], unitOfDomain[domain ?? -1]];
        for (const [i, unit] of unitOfDomain.entries()) if (unit === from) unitOfDomain[i] = to ?? -1;
      }
  return [...new Set(unitOfDomain)].map((unit) =>
    unitOf(
      queueing,
      unitOfDomain.flatMap((one, domain) => (one === unit ? [domain] : [])),
    ),
  );
}

function unitOf(queueing: Queueing, domains: readonly number[]): NaiveUnit {
  const indices = domains.flatMap((domain) =>
    queueing.queues.flatMap((queue, i) => (queue.domain === domain && queue.kind !== "Unqueued" ? [i] : [])),
  );
  const recordOf = (index: number | null): number => indices.indexOf(index ?? -1);
  const countOf = (domain: number): number => queueing.domains[domain]?.classes?.length ?? 1;
  const everywhere = (domain: number): readonly number[] => [...Array(countOf(domain)).keys()];
  const items = queueing.gangs.flatMap(({ parts }) =>
    parts.flatMap((part): readonly NaiveItem[] => {
      const record = recordOf(part.queue);
      if (record < 0 || part.domain === null) return [];
      const places = (part.places ?? []).map(({ queue, domain, classes }) => ({
        ...{ record: recordOf(queue), classes: classes ?? everywhere(domain) },
      }));
      const here = [{ record, classes: everywhere(part.domain) }];
      return [{ gpus: part.pods * (part.gpusPerPod ?? 0), places: places.length > 0 ? places : here }];
    }),
  );
  const terms = termsOf(queueing, indices, items);
  const trees = grow(terms, null);
  const found = new Map<number, Tree>();
  const visit = (tree: Tree): void => {
    found.set(tree.index, tree);
    tree.children.forEach(visit);
  };
  trees.forEach(visit);
  const own = ownOf(trees, new Map(), Number.POSITIVE_INFINITY);
  const records = indices.flatMap((index, i): readonly NaiveRecord[] => {
    const [queue, tree] = [queueing.queues[index], found.get(i)];
    if (queue === undefined || tree === undefined) return [];
    const keptHere = kept(tree);
    return [
      {
        ...{ index, queue, parent: tree.node.parent, limit: tree.node.limit, kept: keptHere },
        local: keptHere - sum(tree.children.map(kept)),
        quota: keptHere + lendable(tree),
        sure: sureOf(tree),
        own: own.get(i) ?? 0,
        allocated: queue.isLeaf ? allocatedByClass(queue, countOf(queue.domain)) : [],
      },
    ];
  });
  const capacity = new Map(domains.map((domain) => [domain, capacityIn(queueing, domain)] as const));
  return { domains, records, items, capacity };
}

/** Of nodes that take pods, without what no queue answers for. */
function capacityIn({ domains, queues }: Queueing, domain: number): readonly number[] {
  const { capacity = 0, allocatedOnUnschedulable = 0, classes } = domains[domain] ?? {};
  const count = classes?.length ?? 1;
  const past = queues.filter((queue) => queue.domain === domain && queue.kind === "Unqueued");
  return Array.from({ length: count }, (_, i) => {
    const all = classes === undefined ? capacity - allocatedOnUnschedulable : (classes[i]?.capacity ?? 0);
    return all - sum(past.map((queue) => allocatedByClass(queue, count)[i] ?? 0));
  });
}

/** What is lost stays with who holds it: of its quota first what it lends to nobody, and of its limit. */
function termsOf(queueing: Queueing, indices: readonly number[], items: readonly NaiveItem[]): readonly TreeNode[] {
  const guarantees = guaranteesOf(queueing);
  const terms = indices.flatMap((index, i): readonly TreeNode[] => {
    const queue = queueing.queues[index];
    if (queue === undefined) return [];
    const { allocatedOnUnschedulable: lost, lendingLimit, limit, weight, zeroWeight, priority } = queue;
    const mayCome = items.filter(({ places }) => places.some(({ record }) => record === i));
    const sure = guarantees[index] ?? 0;
    const guaranteed = Math.max(0, sure - lost);
    const unlent = Math.max(0, Math.max(0, sure - lendingLimit) - lost);
    return [
      {
        ...{ id: i, guaranteed, weight, zeroWeight, priority, usage: 0 },
        parent: queue.parent === null ? null : indices.indexOf(queue.parent),
        limit: Math.max(0, limit - lost),
        lendingLimit: lendingLimit === Number.POSITIVE_INFINITY ? lendingLimit : guaranteed - unlent,
        isFloor: queue.guaranteeIsFloor ?? false,
        demand: queue.allocated - lost + sum(mayCome.map(({ gpus }) => gpus)),
        allocated: queue.allocated - lost,
      },
    ];
  });
  // A root of our own loses what its queues lose of their limits, not what they hold above them.
  const lostOf = (i: number): number => {
    const [queue, limit] = [queueing.queues[indices[i] ?? -1], whole[i]?.limit ?? 0];
    return limit === Number.POSITIVE_INFINITY ? (queue?.allocatedOnUnschedulable ?? 0) : (queue?.limit ?? 0) - limit;
  };
  const limitOf = (i: number, promised: number): number => {
    const queue = queueing.queues[indices[i] ?? -1];
    if (queue?.kind !== "Scheduler" || queue.children.length === 0) return Math.min(queue?.limit ?? 0, promised);
    return queue.limit - sum(queue.children.map((child) => lostOf(indices.indexOf(child))));
  };
  // Parents are sure of what their children still are, and may hold it.
  const whole = [...terms];
  for (const [i, term] of [...terms.entries()].reverse()) {
    const below = sum(whole.filter(({ parent }) => parent === i).map(({ guaranteed }) => guaranteed));
    const most = Math.min(below, guarantees[indices[i] ?? -1] ?? 0);
    const guaranteed = Math.max(term.guaranteed, most);
    const unlent = term.guaranteed - term.lendingLimit;
    const lendingLimit = term.lendingLimit === Number.POSITIVE_INFINITY ? term.lendingLimit : guaranteed - unlent;
    whole[i] = { ...term, guaranteed, lendingLimit, limit: Math.max(limitOf(i, most), term.limit) };
  }
  return whole;
}
