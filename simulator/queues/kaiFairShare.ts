import type { KaiQueueSpec } from "./spec.ts";

/** What a division of GPUs is based on, by the name of the queue. */
export interface ShareInputs {
  /** GPUs of work that runs or waits, children included. */
  readonly requested: ReadonlyMap<string, number>;
  /** Past use as a part of the capacity of its window, 0..1. */
  readonly use: ReadonlyMap<string, number>;
  readonly kValue: number;
}

/**
 * KAI's fair shares (plugins/proportion/resource_division), GPUs by queue: the roots divide `total`, and children divide the
 * share of their parent. Each queue first gets its quota, as far as it asks for it; the rest is then divided by priority from
 * high to low.
 */
export function kaiShares(
  queues: readonly KaiQueueSpec[],
  total: number,
  inputs: ShareInputs,
): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  const divideAmong = (parent: string | null, amount: number): void => {
    const siblings = queues.filter((queue) => queue.parent === parent);
    const wanted = new Map(siblings.map((queue) => [queue.name, mostWanted(queue, inputs)] as const));
    for (const { name, quota } of siblings)
      shares.set(name, Math.min(quota < 0 ? amount : quota, wanted.get(name) ?? 0));
    const sure = siblings.reduce((sum, { name }) => sum + (shares.get(name) ?? 0), 0);
    divideSurplus(siblings, wanted, Math.max(0, amount - sure), inputs, shares);
    for (const { name } of siblings) divideAmong(name, shares.get(name) ?? 0);
  };
  divideAmong(null, total);
  return shares;
}

function mostWanted({ name, limit }: KaiQueueSpec, { requested }: ShareInputs): number {
  const asked = requested.get(name) ?? 0;
  return limit < 0 ? asked : Math.min(asked, limit);
}

/** A surplus while it is divided among queues of one priority. */
interface Dealing {
  readonly level: readonly KaiQueueSpec[];
  readonly inputs: ShareInputs;
  readonly shares: Map<string, number>;
  readonly openOf: (name: string) => number;
  left: number;
}

/** How many GPUs rounding down withheld from a queue. */
type CutOff = readonly [name: string, gpus: number];

function divideSurplus(
  siblings: readonly KaiQueueSpec[],
  wanted: ReadonlyMap<string, number>,
  surplus: number,
  inputs: ShareInputs,
  shares: Map<string, number>,
): void {
  const openOf = (name: string): number => (wanted.get(name) ?? 0) - (shares.get(name) ?? 0);
  const cutOff: CutOff[] = [];
  let left = surplus;
  for (const priority of new Set(siblings.map((each) => each.priority).sort((a, b) => b - a))) {
    const level = siblings.filter((each) => each.priority === priority);
    const dealing: Dealing = { level, inputs, shares, openOf, left };
    cutOff.push(...dealOut(dealing));
    left = dealing.left;
  }
  // The rest is given out GPU by GPU, first to the queue from which rounding took the most.
  for (const [name] of cutOff) {
    const given = Math.min(1, left);
    shares.set(name, (shares.get(name) ?? 0) + given);
    left -= given;
  }
}

/**
 * Divides a surplus in rounds until a round satisfies no queue, or nothing is left. Returns what rounding withheld, the largest
 * amount first.
 */
function dealOut(dealing: Dealing): readonly CutOff[] {
  for (;;) {
    const { isAnyMet, cutOff } = dealRound(dealing);
    if (dealing.left <= 0) return [];
    if (!isAnyMet) return cutOff.sort(([, a], [, b]) => b - a);
  }
}

/** One round: a queue that wants no more than its part gets what it wants, and the others get the whole GPUs of theirs. */
function dealRound(dealing: Dealing): { readonly isAnyMet: boolean; readonly cutOff: CutOff[] } {
  const { level, inputs, shares, openOf, left: round } = dealing;
  const open = level.filter(({ name }) => openOf(name) > 0);
  const weights = shareWeights(open, inputs).filter(([, weight]) => weight > 0);
  const sum = weights.reduce((all, [, weight]) => all + weight, 0);
  const cutOff: CutOff[] = [];
  let isAnyMet = false;
  for (const [name, weight] of weights) {
    const [part, wants] = [(round * weight) / sum, openOf(name)];
    const given = wants <= part ? wants : Math.floor(part);
    // A queue that wants exactly its part leaves nothing for another round.
    isAnyMet ||= wants < part;
    if (wants > part && part > given) cutOff.push([name, part - given]);
    shares.set(name, (shares.get(name) ?? 0) + given);
    dealing.left -= given;
  }
  return { isAnyMet, cutOff };
}

/**
 * The weights P = max(0, w + k (w - u)): w is the weight over the sum of all queues that still want something, and u is the
 * past use.
 */
function shareWeights(
  open: readonly KaiQueueSpec[],
  { use, kValue }: ShareInputs,
): readonly (readonly [name: string, weight: number])[] {
  const total = open.reduce((sum, { overQuotaWeight }) => sum + overQuotaWeight, 0);
  return open.map(({ name, overQuotaWeight }) => {
    const weight = total === 0 ? 0 : overQuotaWeight / total;
    // A queue without a weight never gets anything above its quota, however little it used.
    return [name, weight === 0 ? 0 : Math.max(0, weight + kValue * (weight - (use.get(name) ?? 0)))];
  });
}
