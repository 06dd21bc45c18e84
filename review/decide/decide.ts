import { mainCurrency } from "../build/sumCosts.ts";
import type { Review } from "../document/review.ts";
import type { WaterfallDropRow } from "../document/use.ts";
import type { Decision, Undecided } from "./decision.ts";
import { type lossOf, proposeLoss } from "./proposeLoss.ts";
import { proposeWaiting } from "./proposeWaiting.ts";

/** The most decisions: a meeting can make no more. */
export const mostDecisions = 5;
/** How many of the largest losses have a decision, or the reason why there is none. */
const explainedLosses = 5;

/** The decisions of a review, the one with most at stake first, and why there is none about other large losses. */
export interface Decisions {
  readonly decisions: readonly Decision[];
  readonly undecided: readonly Undecided[];
}

/**
 * What a director should decide after this review: at most five, ranked by the money at stake in the currency with most of it;
 * anything without a price, and work that waits, counts with the mean price of all GPU time, but only for the order. Where
 * nothing has a price, GPU-hours are compared. The best decision for a pool that is short and the best for those who wait long
 * are kept among the five, because work that waits has no price. Each of the largest losses of the waterfall has a decision or
 * a reason.
 *
 * Impossible: more than five decisions; a purchase and the closing of nodes of the same pool; the closing of nodes that a
 * withheld recommendation explains (reserved capacity, nodes kept warm); an amount that is no finite number.
 */
export function decide(review: Review): Decisions {
  const losses = review.waterfall
    .flatMap(({ drops }) => drops)
    .filter(({ gpuHours }) => gpuHours > 0)
    .toSorted((one, other) => other.gpuHours - one.gpuHours || (nameOf(one) < nameOf(other) ? -1 : 1));
  const proposals = [...proposeWaiting(review), ...losses.map((drop) => proposeLoss(review, drop))];
  const price = meanPrice(review);
  const ranked = proposals
    .flatMap((one) => ("decision" in one ? [one.decision] : []))
    .toSorted(
      (one, other) =>
        stakeOf(other, price) - stakeOf(one, price) ||
        (`${one.kind}\n${one.cluster}\n${one.title}` < `${other.kind}\n${other.cluster}\n${other.title}` ? -1 : 1),
    );
  const decisions = firstOf(ranked);
  const largest = losses.slice(0, explainedLosses);
  const undecided = proposals.flatMap((one): readonly Undecided[] => {
    if ("decision" in one || (one.undecided.loss !== null && !isOneOf(largest, one.undecided.loss))) return [];
    return [one.undecided];
  });
  const outranked = ranked
    .filter((one) => !decisions.includes(one))
    .filter(({ coversLoss }) => coversLoss === null || isOneOf(largest, coversLoss))
    .map(({ coversLoss, title }) => ({
      loss: coversLoss,
      reason:
        coversLoss === null
          ? `${title}: more is at stake elsewhere.`
          : `One could "${title}", but more is at stake elsewhere.`,
    }));
  return { decisions, undecided: [...undecided, ...outranked] };
}

const nameOf = ({ state, isAllocated }: Pick<WaterfallDropRow, "state" | "isAllocated">): string =>
  `${state} ${isAllocated}`;

const isOneOf = (drops: readonly WaterfallDropRow[], loss: ReturnType<typeof lossOf>): boolean =>
  drops.some((drop) => nameOf(drop) === nameOf(loss));

/**
 * The first five decisions. The best one for a pool that is short and the best one for those who wait long are always among
 * them.
 */
function firstOf(ranked: readonly Decision[]): readonly Decision[] {
  const waiting = ranked.filter(({ coversLoss }) => coversLoss === null);
  const kept = [true, false].flatMap((isOfPool) => waiting.find(({ cluster }) => (cluster !== "") === isOfPool) ?? []);
  const others = ranked.filter((one) => !kept.includes(one)).slice(0, mostDecisions - kept.length);
  return ranked.filter((one) => kept.includes(one) || others.includes(one));
}

interface Price {
  readonly currency: string;
  readonly perGpuHour: number;
}

/** What a GPU-hour costs on average in the currency with the most money; `null` without a price. */
function meanPrice({ waterfall }: Review): Price | null {
  const all = waterfall.find(({ level }) => level === "capacity");
  const currency = all === undefined ? null : mainCurrency(all.costs);
  if (all === undefined || currency === null || !(all.gpuHours > 0)) return null;
  return { currency, perGpuHour: (all.costs[currency] ?? 0) / all.gpuHours };
}

function stakeOf({ worth }: Decision, price: Price | null): number {
  const gpuHours = worth.lostGpuHours ?? worth.waitingGpuHours ?? 0;
  if (price === null) return gpuHours;
  const costs = worth.moneyPerWeek;
  return costs !== null && Object.hasOwn(costs, price.currency)
    ? (costs[price.currency] ?? 0)
    : gpuHours * price.perGpuHour;
}
