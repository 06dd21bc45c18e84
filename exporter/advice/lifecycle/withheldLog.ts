import { createHash } from "node:crypto";
import { oncePer } from "../../kernel/once.ts";
import { withoutGeneratedSuffixes } from "../../kernel/stemOfName.ts";
import type { WithheldAdvice, WithheldReason } from "../../model/recommendation.ts";
import type { StoredWithheld } from "../../model/storedAdvice.ts";

/** Records over time why needs are not served: a reason that lasted for a while is stored. */
export interface WithheldLog {
  /** Takes in what one more moment withholds. */
  note(withheld: readonly WithheldAdvice[], at: number): void;
  /**
   * What the ledger must store since the last call: reasons that have begun to last, have lasted for another hour, or have
   * ended.
   */
  takeChanges(): readonly StoredWithheld[];
}

/** A reason that lasts for less than this is not stored, seconds. */
const keptFrom = 900;
/** How often a reason that lasts is stored, seconds. */
const keptEvery = 3600;
/** A reason that is missing for no longer than this goes on, seconds: reasons alternate. */
const pause = 1800;
/** The most reasons that are followed. */
const mostFollowed = 500;
const longestReason = 500;

/**
 * Reasons that do not explain why a need is not served: it is about to be served, was served just now, or is served by another
 * plan.
 */
const passing: ReadonlySet<WithheldReason> = new Set<WithheldReason>(["standing", "cool-down", "excluded"]);

interface Followed {
  readonly withheld: Pick<StoredWithheld, "id" | "kind" | "subject" | "why">;
  reason: string;
  readonly begins: number;
  lastAt: number;
  /** The time until which the ledger has stored it, seconds since the epoch; `null`: it is not stored at all. */
  keptUntil: number | null;
}

/** Makes a log that has received nothing yet. */
export function createWithheldLog(): WithheldLog {
  const followed = new Map<string, Followed>();
  let changes: StoredWithheld[] = [];

  function keep(one: Followed): void {
    one.keptUntil = one.lastAt;
    changes.push({ ...one.withheld, reason: one.reason, begins: one.begins, ends: one.lastAt });
  }

  function follow(one: WithheldAdvice, at: number): void {
    const { kind, subject, why } = one;
    const reason = one.reason.slice(0, longestReason);
    const id = idOf(one);
    const known = followed.get(id);
    if (known !== undefined) Object.assign(known, { reason, lastAt: Math.max(at, known.begins) });
    else if (followed.size < mostFollowed)
      followed.set(id, { withheld: { id, kind, subject, why }, reason, begins: at, lastAt: at, keptUntil: null });
  }

  return {
    note(withheld, at) {
      for (const one of withheld) if (!passing.has(one.why)) follow(one, at);
      for (const [id, one] of followed) {
        const isDue =
          one.keptUntil === null ? one.lastAt - one.begins >= keptFrom : one.lastAt - one.keptUntil >= keptEvery;
        if (isDue) keep(one);
        if (Math.abs(at - one.lastAt) <= pause) continue;
        if (one.keptUntil !== null && one.keptUntil < one.lastAt) keep(one);
        followed.delete(id);
      }
    },
    takeChanges() {
      const all = changes;
      changes = [];
      return all;
    },
  };
}

/**
 * The id of a reason. Amounts and times in it change from moment to moment, and the named work is one of many: it stays the
 * same reason.
 */
const idOf = oncePer(({ kind, subject, reason }: WithheldAdvice): string => {
  const stem = withoutGeneratedSuffixes(reason)
    .replaceAll(/\d[\d.,:]*/g, "#")
    .slice(0, longestReason);
  const hash = createHash("sha256").update(JSON.stringify([kind, subject, stem]));
  return `w-${hash.digest("hex").slice(0, 12)}`;
});
