import type { Condition } from "../../../model/queues/condition.ts";
import { type Place, text, time } from "../fields.ts";
import { shortText, someItems } from "./bounds.ts";

/** More than any object has. */
const maxConditions = 32;
/** What is kept of a reason, and of a message. */
export const maxReasonChars = 100;
export const maxMessageChars = 500;

/** `status.conditions`, only of types that `keep` accepts; the schedulers' own shapes of a condition share these fields. */
export function conditions(status: Place, keep: (type: string) => boolean = () => true): readonly Condition[] {
  return someItems(status, "conditions", maxConditions).flatMap((entry) => {
    const type = shortText(entry, "type", maxReasonChars);
    return keep(type) ? [condition(entry, type)] : [];
  });
}

function condition(entry: Place, type: string): Condition {
  return {
    type,
    isTrue: text(entry, "status") === "True",
    reason: shortText(entry, "reason", maxReasonChars),
    message: shortText(entry, "message", maxMessageChars),
    changedAt: time(entry, "lastTransitionTime"),
  };
}

/** The condition of a type; `null` where the object does not have it. */
export function conditionOf(all: readonly Condition[], type: string): Condition | null {
  return all.find((candidate) => candidate.type === type) ?? null;
}
