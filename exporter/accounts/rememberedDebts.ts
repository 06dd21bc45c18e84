import { z } from "zod";
import type { QueueKind } from "../join/queues/queueing.ts";
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
import { amount, readText } from "./rememberedText.ts";

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
