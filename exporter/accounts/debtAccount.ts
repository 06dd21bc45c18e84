import type { Analysis } from "../analysis/analysis.ts";
import { type AccruedDebts, accrueDebts, type DebtState, shownDebts } from "./debts.ts";
import type { Remembered, RememberedChange } from "./ledger/ledger.ts";
import type { FairnessDebt } from "./queueCounters.ts";
import { debtRow, debtsIn, domainKind, domainRow, queueKind } from "./rememberedDebts.ts";

/** A step that is worked out; the account does not contain it before `commit`. */
export interface PreparedDebts {
  /** What must be remembered. Most steps have nothing to write: changes follow within a minute. */
  readonly changes: readonly RememberedChange[];
  commit(): void;
}

/** The decayed deviations of a process, and of the one before it. */
export interface DebtAccount {
  /**
   * Begins with the first moment: the remembered values decay by the time that has passed since, which counts as not covered.
   */
  begin(now: number): void;
  /** A step that ends at `now` (seconds since the epoch), with the values of its earlier moment. */
  prepare(before: Analysis, seconds: number, isCovered: boolean, now: number): PreparedDebts;
  debts(): readonly FairnessDebt[];
}

/** A crash costs the debts of at most this many seconds, which are not covered then. */
const writeSeconds = 60;

/** What has changed and is not handed to the ledger yet: changed queues, and queues and domains that were dropped. */
interface Unwritten {
  readonly moved: ReadonlySet<string>;
  readonly dropped: ReadonlySet<string>;
  readonly droppedDomains: ReadonlySet<string>;
}

const nothing: Unwritten = { moved: new Set(), dropped: new Set(), droppedDomains: new Set() };

/** Creates an account for these half-lives. `remembered` is what a ledger holds; `null`: there is no ledger to write to. */
export function createDebtAccount(halfLives: readonly number[], remembered: readonly Remembered[] | null): DebtAccount {
  let state: DebtState = { queues: new Map(), domains: new Map() };
  let unwritten = nothing;
  let writtenAt = Number.NEGATIVE_INFINITY;
  let shown: readonly FairnessDebt[] = [];

  return {
    begin(now) {
      state = debtsIn(remembered ?? [], halfLives, now);
      shown = shownDebts(state, halfLives);
    },
    prepare(before, seconds, isCovered, now) {
      const { domains } = before.snapshot.queueing;
      if (domains.length === 0 && state.domains.size === 0 && state.queues.size === 0) return noChange;
      const next = accrueDebts(state, halfLives, before, seconds, isCovered);
      const pending = remembered === null ? nothing : add(unwritten, next);
      // A clock that was set back must not stop the writing.
      const writes = remembered !== null && Math.abs(now - writtenAt) >= writeSeconds;
      const changes = writes ? rows(pending, next, halfLives, now) : [];
      const nextShown = shownDebts(next, halfLives);
      return {
        changes,
        commit() {
          state = next;
          shown = nextShown;
          unwritten = writes ? nothing : pending;
          if (writes) writtenAt = now;
        },
      };
    },
    debts: () => shown,
  };
}

const noChange: PreparedDebts = { changes: [], commit: () => {} };

function add(before: Unwritten, next: AccruedDebts): Unwritten {
  const isKept = (id: string): boolean => next.queues.has(id);
  const isGone = (id: string): boolean => !next.queues.has(id);
  return {
    moved: new Set([...before.moved, ...next.moved].filter(isKept)),
    dropped: new Set([...before.dropped, ...next.dropped].filter(isGone)),
    droppedDomains: new Set([...before.droppedDomains, ...next.droppedDomains].filter((d) => !next.domains.has(d))),
  };
}

/** A queue that only decays needs no new row: its old one says the same. */
function rows(
  { moved, dropped, droppedDomains }: Unwritten,
  state: DebtState,
  halfLives: readonly number[],
  now: number,
): readonly RememberedChange[] {
  const changes: RememberedChange[] = [];
  for (const id of moved) {
    const debt = state.queues.get(id);
    if (debt !== undefined) changes.push(debtRow(debt, halfLives, now));
  }
  for (const debt of state.domains.values()) changes.push(domainRow(debt, halfLives, now));
  for (const key of dropped) changes.push({ kind: queueKind, key, value: null });
  for (const key of droppedDomains) changes.push({ kind: domainKind, key, value: null });
  return changes;
}
