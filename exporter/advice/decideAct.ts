import type { AdviceAct, WorkHabit } from "../model/adviceAct.ts";
import type { AdviceKind } from "../model/recommendation.ts";
import { durationWords } from "./kinds/words.ts";
import type { AdviceSettings } from "./moment.ts";
import type { Habit } from "./usage/habit.ts";

/** What is known about the past of idle work. */
export interface IdlePast {
  /** For how long it has been idle, seconds. */
  readonly idleSeconds: number;
  /**
   * Whether nothing has ever run on what its pods hold since they were bound, and the work was watched for its whole lifetime.
   */
  readonly neverWorked: boolean;
  /** The habit of work with this name; `undefined` if it was never watched. */
  readonly habit: Habit | undefined;
  readonly estimate: WorkHabit;
}

/** An act, and why it is chosen. */
export interface ActDecision {
  readonly act: AdviceAct;
  /** The reasons, as sentences without a full stop. */
  readonly reasons: readonly string[];
}

/** The facts from which the act is decided. */
export interface ActFacts {
  readonly kind: AdviceKind;
  /** The past of idle work; `null` for everything else. */
  readonly idle: IdlePast | null;
  /** Present for work that looks busy and computes nothing. */
  readonly isStalled?: true;
  /** Present for work on a GPU with a fault that ends or corrupts it: the work would have to be done again. */
  readonly losesWork?: true;
  /**
   * GPU-hours under the worse placement rule: what the plan is expected to gain, and what it certainly loses if it is carried
   * out.
   */
  readonly gainedGpuHours: number;
  readonly lostGpuHours: number;
}

/** Kinds that change what work asks for, each with the reason why only the owner can agree. */
const ownersDecide: ReadonlyMap<AdviceKind, string> = new Map([
  ["right_size", "how many GPUs its program needs, only its owner knows"],
  ["share_gpu", "whether its program runs on a part of a GPU, only its owner knows"],
]);

/** Work that has been idle this many times longer than ever before it came back has left its habit. */
const farLonger = 2;
const secondsPerDay = 86_400;

/** Decides what a plan that passes all guards may ask for. Pure. */
export function decideAct(
  { kind, idle, isStalled, losesWork, gainedGpuHours, lostGpuHours }: ActFacts,
  settings: AdviceSettings,
): ActDecision {
  if (kind === "fix_source") return { act: "watch", reasons: ["a signal is missing or in doubt"] };
  const ownersKnow = ownersDecide.get(kind);
  if (ownersKnow !== undefined) return { act: "ask", reasons: [ownersKnow] };
  if (isStalled === true)
    return { act: "ask", reasons: ["whether it hangs or waits for something, only its owner can see"] };
  if (losesWork === true)
    return { act: "ask", reasons: ["work would be lost: when it is restarted, its owner decides"] };
  if (idle === null) return { act: "do", reasons: ["every guard that was asked lets it pass"] };
  if (idle.neverWorked)
    return { act: "do", reasons: ["it was watched from its start on and has never done anything: nothing is lost"] };
  const unknown = whyUnknown(idle, settings);
  if (unknown !== null) return { act: "ask", reasons: [unknown] };
  const longest = idle.habit?.longestReturnSeconds ?? 0;
  if (idle.idleSeconds < farLonger * longest) {
    const reason = `it once came back after ${durationWords(longest)}: only after twice that it is out of its habit`;
    return { act: "ask", reasons: [reason] };
  }
  if (gainedGpuHours < settings.gainOverLoss * lostGpuHours) {
    const expected = idle.estimate.returnProbability * lostGpuHours;
    const amounts = `${lostGpuHours.toFixed(1)} GPU-hours would be lost (${expected.toFixed(1)} expected) for ${gainedGpuHours.toFixed(1)} expected to be gained`;
    return { act: "ask", reasons: [`${amounts}: not ${settings.gainOverLoss} times as much`] };
  }
  const quiet = `it has been idle for ${durationWords(idle.idleSeconds)}, and never came back after more than ${durationWords(longest)}`;
  return { act: "do", reasons: [quiet] };
}

/** Why it is not known whether the work usually comes back; `null` if it is known. */
function whyUnknown({ habit }: IdlePast, settings: AdviceSettings): string | null {
  const { habitReturns, habitDays } = settings;
  if (habit === undefined) return "it may have worked before Fairlead watched it";
  const returns = habit.spells.filter(({ returned }) => returned).length;
  if (returns < habitReturns)
    return `it may have worked before, and was seen to come back ${returns} times: its habit is known after ${habitReturns}`;
  const watched = habit.seenAt - habit.firstSeenAt;
  if (watched < habitDays * secondsPerDay)
    return `it has been watched for ${durationWords(watched)}: its habit is known after ${habitDays} days`;
  return null;
}

/**
 * Why not even a question about idle work is asked: it will most likely work again by itself, or it came back every time and
 * has not been idle for longer than before. `null` if neither is true. Coming back twice may be chance.
 */
export function withinHabit(past: IdlePast, { habitReturns, askReturnProbability }: AdviceSettings): string | null {
  const { idleSeconds, habit, estimate } = past;
  const spells = habit?.spells ?? [];
  const isUsual = spells.length >= habitReturns && spells.every(({ returned }) => returned);
  if (habit !== undefined && isUsual && idleSeconds <= habit.longestReturnSeconds)
    return `it came back each of the last ${spells.length} times, once after ${durationWords(habit.longestReturnSeconds)}`;
  if (estimate.returnProbability <= askReturnProbability) return null;
  const percent = (part: number): string => `${Math.round(part * 100)} %`;
  return `it is likely to work again by itself (${percent(estimate.returnProbability)}); nobody is asked above ${percent(askReturnProbability)}`;
}
