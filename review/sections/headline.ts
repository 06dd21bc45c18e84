import { decide } from "../decide/decide.ts";
import type { Decision } from "../decide/decision.ts";
import type { Review } from "../document/review.ts";
import { longText } from "../words/names.ts";
import { money } from "./money.ts";
import { figure, type Piece, type Sentence } from "./section.ts";

/**
 * The review in two sentences: what happened, and what to decide first. A part of the window must be covered. Ratios are parts
 * of all GPU time; those that are not known are left out.
 */
export function headline(review: Review): readonly [happened: Sentence, toDecide: Sentence] {
  const whole = (item: string, pieces: readonly Piece[]): Sentence => ({
    section: "headline",
    cluster: "",
    item,
    pieces,
  });
  return [whole("happened", happened(review)), whole("decide", toDecide(review))];
}

function happened({ waterfall, team, terms }: Review): readonly Piece[] {
  const gpuHoursOf = (wanted: string): number | null =>
    waterfall.find(({ level }) => level === wanted)?.gpuHours ?? null;
  const all = waterfall.find(({ level }) => level === "capacity");
  const capacity = all?.gpuHours ?? null;
  const costs = all?.costs ?? {};
  const part = (name: string): readonly Piece[] => {
    const amount = gpuHoursOf(name);
    if (amount === null || capacity === null || !(capacity > 0)) return [];
    return [", ", ...figure(name, "ratio", amount / capacity), ` ${name}`];
  };
  return [
    ...figure("capacity", "GPU-h", capacity),
    // For a team, all of the capacity was allocated to it.
    ...(team === null ? part("allocated") : []),
    ...(terms.utilization === null ? [] : [", utilization ", ...figure("utilization", "ratio", terms.utilization)]),
    ...(Object.keys(costs).length === 0 ? [", no price known"] : [", cost ", ...money("cost", costs)]),
    ".",
  ];
}

function toDecide(review: Review): readonly Piece[] {
  const [first] = decide(review).decisions;
  if (first === undefined) return ["Nothing to decide: no loss is large, and no work waits long."];
  const { title, worth, owner } = first;
  return [`Decide first: ${longText(title)} (`, ...stake(worth), `${longText(owner)} decides).`];
}

function stake({ moneyPerWeek, lostGpuHours, waitingGpuHours }: Decision["worth"]): readonly Piece[] {
  if (moneyPerWeek !== null) return [...money("at_stake", moneyPerWeek, "week"), " at stake, "];
  if (lostGpuHours !== null) return [...figure("lost", "GPU-h", lostGpuHours), " lost, "];
  if (waitingGpuHours !== null) return [...figure("waited", "GPU-h", waitingGpuHours), " waited, "];
  return [];
}
