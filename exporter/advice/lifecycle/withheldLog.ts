import { createHash } from "node:crypto";
import { withoutGeneratedSuffixes } from "../../kernel/stemOfName.ts";
import type { WithheldAdvice, WithheldReason } from "../../model/recommendation.ts";
import type { StoredWithheld } from "../../model/storedAdvice.ts";

/** Why needs are not served, over time: what stood for a while is worth keeping. */
export interface WithheldLog {
  /** What one more moment withholds. */
  note(withheld: readonly WithheldAdvice[], at: number): void;
  /** What the ledger must keep since it was last asked: what has begun to last, has lasted for another hour, or has ended. */
  takeChanges(): readonly StoredWithheld[];
}

/** A reason that lasts for less is not kept, seconds. */
const keptFrom = 900;
/** What lasts is written so often, seconds. */
const keptEvery = 3600;
/** What is not said for less than this goes on, seconds: reasons take turns. */
const pause = 1800;
/** Reasons that are followed at most. */
const mostFollowed = 500;
const longestReason = 500;

/** What says nothing of why a need is not served: that it is about to be, was just now, or is by another plan. */
const passing: ReadonlySet<WithheldReason> = new Set<WithheldReason>(["standing", "cool-down", "excluded"]);

interface Followed {
  readonly withheld: Pick<StoredWithheld, "id" | "kind" | "subject" | "why">;
  reason: string;
  readonly begins: number;
  lastAt: number;
  /** Until when the ledger has it; `null`: not at all. */
  keptUntil: number | null;
}

/** A log that has received nothing yet. */
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

/** Amounts and times of a reason change from moment to moment, and whoever happens to wait is one of many: it is the same reason. */
function idOf({ kind, subject, reason }: WithheldAdvice): string {
  const stem = withoutGeneratedSuffixes(reason)
    .replaceAll(/\d[\d.,:]*/g, "#")
    .slice(0, longestReason);
  const hash = createHash("sha256").update(JSON.stringify([kind, subject, stem]));
  return `w-${hash.digest("hex").slice(0, 12)}`;
}
