/** One queue among its siblings, in GPUs. */
export interface KaiShareInput {
  readonly name: string;
  /** Of two equal queues, the older one comes first; `null` is last. */
  readonly createdAt: number | null;
  readonly priority: number;
  /** Quota in GPUs; `Infinity`: unlimited. */
  readonly quota: number;
  readonly limit: number;
  readonly overQuotaWeight: number;
  /** What is allocated and pending together. */
  readonly requested: number;
  /** Use over the capacity of the window, 0..1; 0 without history. */
  readonly usage: number;
}

/**
 * Fair shares of siblings as KAI itself divides them, in whole units (pkg/scheduler/plugins/proportion/resource_division):
 * first the quotas, even where they exceed the total together; then rounds of the surplus by weight within each priority; then
 * what rounding left, one unit at a time.
 */
export function kaiFairShares(
  queues: readonly KaiShareInput[],
  total: number,
  kValue: number,
): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  let remaining = total;
  for (const queue of queues) {
    const given = Math.min(queue.quota === Number.POSITIVE_INFINITY ? total : queue.quota, requestable(queue));
    shares.set(queue.name, given);
    remaining -= given;
  }
  if (remaining <= 0) return shares;
  const priorities = [...new Set(queues.map(({ priority }) => priority))].sort((a, b) => b - a);
  const leftOver: Map<string, number>[] = [];
  for (const priority of priorities) {
    const rest = new Map<string, number>();
    remaining = divide(
      queues.filter((queue) => queue.priority === priority),
      remaining,
      kValue,
      shares,
      rest,
    );
    leftOver.push(rest);
  }
  for (const rest of leftOver) {
    for (const name of byLargestRest(queues, rest)) {
      if (remaining <= 0) return shares;
      const unit = Math.min(1, remaining);
      shares.set(name, (shares.get(name) ?? 0) + unit);
      remaining -= unit;
    }
  }
  return shares;
}

const requestable = ({ requested, limit }: KaiShareInput): number => Math.min(requested, limit);

/** The shares of one priority while they are dealt out. */
interface Dealing {
  readonly shares: Map<string, number>;
  /** What was withheld by rounding down, by queue. */
  readonly rest: Map<string, number>;
  left: number;
}

/** Deals a surplus out among queues of one priority, in rounds, until a round satisfies no queue; returns what is left. */
function divide(
  queues: readonly KaiShareInput[],
  total: number,
  kValue: number,
  shares: Map<string, number>,
  rest: Map<string, number>,
): number {
  const dealing: Dealing = { shares, rest, left: total };
  while (dealing.left > 0) {
    const weights = shareWeights(queues, kValue, shares);
    const sum = weights.reduce((all, { weight }) => all + weight, 0);
    if (sum === 0) break;
    const round = dealing.left;
    let isAnyDone = false;
    for (const { queue, weight } of weights) {
      if (weight > 0 && dealing.left > 0) isAnyDone = give(dealing, queue, (round * weight) / sum) || isAnyDone;
    }
    if (!isAnyDone) break;
  }
  return dealing.left;
}

const openOf = (queue: KaiShareInput, shares: ReadonlyMap<string, number>): number =>
  Math.max(0, requestable(queue) - (shares.get(queue.name) ?? 0));

/** P = max(0, w + k x (w - u)) of the queues that want more, where w is their weight among these, and u their use. */
function shareWeights(queues: readonly KaiShareInput[], kValue: number, shares: ReadonlyMap<string, number>) {
  const open = queues.filter((queue) => openOf(queue, shares) > 0);
  const total = open.reduce((sum, { overQuotaWeight }) => sum + overQuotaWeight, 0);
  if (total === 0) return [];
  return open.map((queue) => {
    const weight = queue.overQuotaWeight / total;
    const isNever = queue.overQuotaWeight === 0;
    return { queue, weight: isNever ? 0 : Math.max(0, weight + kValue * (weight - queue.usage)) };
  });
}

/**
 * Gives a queue its part of a round, in whole units if this does not satisfy it; returns whether it wanted less than its part.
 */
function give(dealing: Dealing, queue: KaiShareInput, fair: number): boolean {
  const { shares, rest } = dealing;
  const wanted = openOf(queue, shares);
  const given = wanted <= fair ? wanted : Math.floor(fair);
  if (wanted <= fair) rest.delete(queue.name);
  else if (fair > given) rest.set(queue.name, fair - given);
  shares.set(queue.name, (shares.get(queue.name) ?? 0) + given);
  dealing.left -= given;
  return given > 0 && wanted < fair;
}

function byLargestRest(queues: readonly KaiShareInput[], rest: ReadonlyMap<string, number>): readonly string[] {
  const age = ({ createdAt }: KaiShareInput): number => createdAt ?? Number.POSITIVE_INFINITY;
  return queues
    .filter(({ name }) => rest.has(name))
    .sort(
      (a, b) =>
        (rest.get(b.name) ?? 0) - (rest.get(a.name) ?? 0) ||
        (age(a) === age(b) ? 0 : age(a) - age(b)) ||
        (a.name < b.name ? -1 : 1),
    )
    .map(({ name }) => name);
}
