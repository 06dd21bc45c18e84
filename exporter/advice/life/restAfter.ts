import type { WithheldReason } from "../../model/recommendation.ts";
import type { AdviceSettings } from "../adviceSettings.ts";
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

/**
 * Why an offer must wait after other advice was taken or dismissed: what was dismissed stays away for `dismissedDays`, a
 * need that somebody just served must show the effect first, and targets rest for the cool-down. `null` where nothing holds
 * it back. `at` in seconds.
 */
export function restAfter(
  { state, closedAt, closedBecause, offer: other }: LivingOffer,
  offer: Offer,
  { dismissedDays, coolDownMinutes }: AdviceSettings,
  at: number,
): HeldBack | null {
  if (closedAt === null || state === "expired") return null;
  const { id, targets } = offer.draft;
  const age = at - closedAt;
  if (state === "dismissed" && other.draft.id === id && age < dismissedDays * secondsPerDay)
    return { why: "dismissed", reason: `dismissed: ${closedBecause}` };
  if (state === "taken" && other.need === offer.need && age < settleSeconds)
    return { why: "cool-down", reason: `${other.draft.id} was taken for it just now: first its effect must show` };
  const coolDownSeconds = coolDownMinutes * 60;
  if (age >= coolDownSeconds || !other.draft.targets.some((target) => targets.includes(target))) return null;
  const minutes = Math.ceil((coolDownSeconds - age) / 60);
  return { why: "cool-down", reason: `advice for the same was ${state}; its targets rest for ${minutes} min more` };
}
