import type { WithheldReason } from "../../model/recommendation.ts";
import type { AdviceSettings } from "../moment.ts";
import type { Offer } from "../offer.ts";
import type { LivingOffer } from "./livingAdvice.ts";

/** Why an offer is not shown now. */
export interface HeldBack {
  readonly why: WithheldReason;
  readonly reason: string;
}

/** Who has begun with a plan has so long to end it, seconds; then it counts as taken in part. */
export const settleSeconds = 600;
export const secondsPerDay = 86_400;

/** What was dismissed comes back before its time if it has become this many times as much. */
const muchMore = 2;

/**
 * Why an offer must wait after other advice was taken or dismissed: what was dismissed stays away for `dismissedDays`, unless
 * it is much more by now, a need that someone just served must show the effect first, and targets rest for the cool-down.
 * Of what was taken in part, the rest goes on. `null` where nothing holds it back. `at` in seconds.
 */
export function restAfter(
  { state, closedAt, closedBecause, offer: other, rests }: LivingOffer,
  offer: Offer,
  { dismissedDays, coolDownMinutes }: AdviceSettings,
  at: number,
): HeldBack | null {
  if (closedAt === null || state === "expired") return null;
  const { targets, effect } = offer.draft;
  const isSameNeed = other.need === offer.need;
  const gpus = other.draft.effect.gainedGpus.worst;
  const age = at - closedAt;
  const isMuchMore = effect.gainedGpus.worst > muchMore * gpus;
  if (state === "dismissed" && isSameNeed && !isMuchMore && age < dismissedDays * secondsPerDay)
    return { why: "dismissed", reason: `dismissed: ${closedBecause}` };
  if (state === "taken" && isSameNeed && rests === null && age < settleSeconds)
    return { why: "cool-down", reason: `${other.draft.id} was taken for it just now: first its effect must show` };
  const coolDownSeconds = coolDownMinutes * 60;
  if (age >= coolDownSeconds || !(rests ?? other.draft.targets).some((target) => targets.includes(target))) return null;
  const minutes = Math.ceil((coolDownSeconds - age) / 60);
  return { why: "cool-down", reason: `advice for the same was ${state}; its targets rest for ${minutes} min more` };
}
