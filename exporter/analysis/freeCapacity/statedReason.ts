/**
 * Why work waits, where a scheduler itself reports it: it can never run, its queue has no quota left, members are missing, or
 * the topology that it asks for has no place although enough is free.
 */
export type StatedCause = "constraint" | "quota" | "gang" | "topology";

/**
 * What a scheduler itself reports, where this decides the cause. Sources: Kueue v0.19 (reasons of the condition QuotaReserved;
 * before v0.18 only the messages of its flavor assigner), KAI v0.17 (reasons of schedulingConditions), Volcano v1.15 (reasons
 * of the condition Unschedulable).
 */
const stated: readonly (readonly [pattern: RegExp, cause: StatedCause])[] = [
  [/\bNoMatchingFlavor\b/, "constraint"],
  [
    /\b(?:WaitingForQuota|ExceedsMaxQuota|WaitingForPreemptedWorkloads|OverLimit|NonPreemptibleOverQuota)\b|\binsufficient (?:unused )?quota\b/,
    "quota",
  ],
  [/\b(?:NotEnoughTasks|NotEnoughPodsOfTask)\b/, "gang"],
  [/\bTopologyPlacementFailed\b|\btopology "[^"]*" (?:doesn't allow to fit|allows to fit only)/, "topology"],
];

/** Creates a function that returns `statedCause`; a reason that many gangs share is examined once. */
export function createStatedCauses(): (reason: string) => StatedCause | null {
  const known = new Map<string, StatedCause | null>();
  return (reason) => {
    let found = known.get(reason);
    if (found === undefined) {
      found = statedCause(reason);
      known.set(reason, found);
    }
    return found;
  };
}

/** The cause that a scheduler's reason names; `null` if it names none that decides. */
export function statedCause(reason: string): StatedCause | null {
  if (reason === "") return null;
  for (const [pattern, cause] of stated) if (pattern.test(reason)) return cause;
  return null;
}
