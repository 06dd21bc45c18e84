import type { Steps } from "../kernel/steps.ts";
import type { ReceivedAlert } from "../model/receivedAlert.ts";
import type { Advice, WithheldAdvice } from "../model/recommendation.ts";
import type { AdviceMoment } from "./moment.ts";
import type { Offer } from "./offer.ts";

/** All that one moment has to offer. */
export interface OffersFound {
  /** Most worth first; no two for one need, none that excludes another. */
  readonly offers: readonly Offer[];
  readonly withheld: readonly WithheldAdvice[];
  readonly reducibleFragmentation: Advice["reducibleFragmentation"];
}

/** Finds, simulates and ranks the advice of one moment; `alerts` that fire have their subjects looked at first. Pure. */
export function* findOffersInSteps(_moment: AdviceMoment, _alerts: readonly ReceivedAlert[]): Steps<OffersFound> {
  yield;
  return { offers: [], withheld: [], reducibleFragmentation: new Map() };
}
