import type { QueueKind } from "../join/queues/queueing.ts";
import { parseJson } from "../kernel/parseJson.ts";
import { queueSchedulers } from "../model/queues/eviction.ts";

import {
  type DebtState,
  type Decayed,
  type DomainDebt,
  laterDomain,
  laterQueue,
  passing,
  type QueueDebt,
  queueId,
} from "./debts.ts";
import type { Remembered, RememberedChange } from "./ledger/ledger.ts";
import type { QueueKey } from "./queueCounters.ts";

/** Kinds in the ledger's `remembered`. */
export const queueKind = "debt";
export const domainKind = "debt-domain";

/** The row of a queue: its sums by half-life, as of `at` (seconds since the epoch). */
export function debtRow(debt: QueueDebt, halfLives: readonly number[], at: number): RememberedChange {
  const { deviation, entitled, team } = debt;
  return { kind: queueKind, key: queueId(debt.key), value: rowText({ at, team }, halfLives, [deviation, entitled]) };
}

/** The row of a domain. */
export function domainRow(debt: DomainDebt, halfLives: readonly number[], at: number): RememberedChange {
  const { elapsed, covered, capacity } = debt;
  return { kind: domainKind, key: debt.domain, value: rowText({ at }, halfLives, [elapsed, covered, capacity]) };
}

function rowText(head: object, halfLives: readonly number[], sums: readonly Decayed[]): string {
  const values = halfLives.map((halfLife, i) => [halfLife, ...sums.map((sum) => sum[i] ?? 0)]);
  return JSON.stringify({ ...head, values });
}

/**
 * The debts as they are at `now`: each row decays by the time since it was written, which no domain covers. Half-lives
 * that the rows do not know begin at 0; rows that cannot be read are left out.
 */
export function debtsIn(rows: readonly Remembered[], halfLives: readonly number[], now: number): DebtState {
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
  /** Parallel to the half-lives. */
  readonly sums: readonly Decayed[];
}

function rowIn(text: string, halfLives: readonly number[], sums: number): Row | null {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || !("at" in value) || !("values" in value)) return null;
  const { at, values } = value;
  if (typeof at !== "number" || !(at >= 0) || !Array.isArray(values)) return null;
  const team = "team" in value && typeof value.team === "string" ? value.team : "";
  const known = new Map<number, readonly number[]>();
  for (const entry of values) {
    if (!isNumbers(entry) || entry.length !== sums + 1) return null;
    known.set(entry[0] ?? 0, entry.slice(1));
  }
  const column = (i: number): Decayed => halfLives.map((halfLife) => known.get(halfLife)?.[i] ?? 0);
  return { at, team, sums: Array.from({ length: sums }, (_, i) => column(i)) };
}

const kinds: readonly QueueKind[] = ["Scheduler", "Cohort", "ClusterQueue", "Queue", "Team", "Namespace", "Unqueued"];

function keyIn(text: string): QueueKey | null {
  const parts = parseJson(text);
  if (!Array.isArray(parts) || parts.length !== 4) return null;
  const [first, second, queue, domain]: readonly unknown[] = parts;
  const scheduler = queueSchedulers.find((name) => name === first);
  const kind = kinds.find((name) => name === second);
  if (scheduler === undefined || kind === undefined || typeof queue !== "string" || typeof domain !== "string")
    return null;
  return { scheduler, kind, queue, domain };
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((part) => typeof part === "number" && Number.isFinite(part));
}
