import { z } from "zod";
import type { Analysis } from "../analysis/analysis.ts";
import type { QueueKind } from "../join/queues/queueing.ts";
import { queueSchedulers } from "../model/queues/eviction.ts";
import {
  type AccruedDebts,
  accrueDebts,
  type DebtState,
  type Decayed,
  type DomainDebt,
  laterDomain,
  laterQueue,
  passing,
  type QueueDebt,
  queueId,
  shownDebts,
} from "./debts.ts";
import type { Remembered, RememberedChange } from "./ledger/ledger.ts";
import type { FairnessDebt, QueueKey } from "./queueCounters.ts";
import { amount, readText } from "./rememberedText.ts";

/** A step that has been computed; the account does not contain it before `commit`. */
export interface PreparedDebts {
  /** The rows that the ledger must write. Most steps have none: changes follow within a minute. */
  readonly changes: readonly RememberedChange[];
  commit(): void;
}

/** The decayed deviations of a process, which continue those of the process before it. */
export interface DebtAccount {
  /**
   * Begins with the first moment: the remembered values decay by the time that has passed since they were written, which counts
   * as not covered.
   */
  begin(now: number): void;
  /** Prepares a step that ends at `now` (seconds since the epoch), with the values of its earlier moment. */
  prepare(before: Analysis, seconds: number, isCovered: boolean, now: number): PreparedDebts;
  debts(): readonly FairnessDebt[];
}

/** Seconds between two writes. A crash loses the debts of at most this time, which is not covered then. */
const writeSeconds = 60;

/** Changes that the ledger has not been given yet: changed queues, and queues and domains that were dropped. */
interface Unwritten {
  readonly moved: ReadonlySet<string>;
  readonly dropped: ReadonlySet<string>;
  readonly droppedDomains: ReadonlySet<string>;
}

const nothing: Unwritten = { moved: new Set(), dropped: new Set(), droppedDomains: new Set() };

/**
 * Creates an account for these half-lives, in seconds. `remembered` holds the rows of the ledger; `null` if there is no ledger
 * to write to.
 */
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

/** The rows to write. A queue that only decays needs no new row, because the old one has the same meaning. */
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

/** Kinds of rows in the table `remembered` of the ledger. */
const queueKind = "debt";
const domainKind = "debt-domain";

/** The row of a queue: its sums by half-life, as of `at` (seconds since the epoch). */
function debtRow(debt: QueueDebt, halfLives: readonly number[], at: number): RememberedChange {
  const { deviation, entitled, team } = debt;
  return { kind: queueKind, key: queueId(debt.key), value: rowText({ at, team }, halfLives, [deviation, entitled]) };
}

/** The row of a domain. */
function domainRow(debt: DomainDebt, halfLives: readonly number[], at: number): RememberedChange {
  const { elapsed, covered, capacity } = debt;
  return { kind: domainKind, key: debt.domain, value: rowText({ at }, halfLives, [elapsed, covered, capacity]) };
}

function rowText(head: object, halfLives: readonly number[], sums: readonly Decayed[]): string {
  const values = halfLives.map((halfLife, i) => [halfLife, ...sums.map((sum) => sum[i] ?? 0)]);
  return JSON.stringify({ ...head, values });
}

/**
 * The debts as they are at `now`: each row decays by the time since it was written, and that time is covered in no domain.
 * Half-lives that the rows do not know begin at 0; rows that cannot be read are left out.
 */
function debtsIn(rows: readonly Remembered[], halfLives: readonly number[], now: number): DebtState {
  const queues = new Map<string, QueueDebt>();
  const domains = new Map<string, DomainDebt>();
  // Rows from the future were written before a clock was set back.
  const since = (at: number) => passing(halfLives, Math.max(0, now - at));
  for (const { kind, key, value } of rows) {
    if (kind === queueKind) {
      const row = rowIn(value, halfLives, 2);
      const queue = keyIn(key);
      if (row === null || queue === null) continue;
      const [deviation = [], entitled = []] = row.sums;
      queues.set(queueId(queue), laterQueue({ key: queue, team: row.team, deviation, entitled }, since(row.at)));
    } else if (kind === domainKind) {
      const row = rowIn(value, halfLives, 3);
      if (row === null) continue;
      const [elapsed = [], covered = [], capacity = []] = row.sums;
      domains.set(key, laterDomain({ domain: key, elapsed, covered, capacity }, since(row.at), null));
    }
  }
  return { queues, domains };
}

interface Row {
  readonly at: number;
  readonly team: string;
  /** One array for each kind of sum; each array is parallel to the half-lives. */
  readonly sums: readonly Decayed[];
}

const rowValue = z.object({
  at: amount,
  team: z.string().catch(""),
  values: z.array(z.array(z.number())),
});

function rowIn(text: string, halfLives: readonly number[], sums: number): Row | null {
  const read = readText(rowValue, text);
  if (read === null || read.values.some(({ length }) => length !== sums + 1)) return null;
  const known = new Map(read.values.map(([halfLife = 0, ...values]) => [halfLife, values] as const));
  const column = (i: number): Decayed => halfLives.map((halfLife) => known.get(halfLife)?.[i] ?? 0);
  return { at: read.at, team: read.team, sums: Array.from({ length: sums }, (_, i) => column(i)) };
}

const kinds: readonly QueueKind[] = ["Scheduler", "Cohort", "ClusterQueue", "Queue", "Team", "Namespace", "Unqueued"];
const rowKey = z.tuple([z.enum(queueSchedulers), z.enum(kinds), z.string(), z.string()]);

function keyIn(text: string): QueueKey | null {
  const read = readText(rowKey, text);
  if (read === null) return null;
  const [scheduler, kind, queue, domain] = read;
  return { scheduler, kind, queue, domain };
}
