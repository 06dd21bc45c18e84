import type { PastIdleTime } from "../exporter/accounts/idleHours.ts";
import type { Ledger, Remembered, RememberedChange } from "../exporter/accounts/ledger/ledger.ts";
import { createLedgerReader, type LedgerReader } from "../exporter/accounts/ledger/ledgerReader.ts";
import { openSqliteLedger } from "../exporter/accounts/ledger/sqliteLedger.ts";
import type { AccruedStep } from "../exporter/accounts/posting.ts";
import {
  type MemoryAt,
  memoryFromLedger,
  rememberedChanges,
  rememberedIn,
} from "../exporter/accounts/rememberedMemory.ts";
import type { EndedOnDay } from "../exporter/accounts/shapeAccount.ts";
import type { Config } from "../exporter/config/schema.ts";
import type { Memory } from "../exporter/join/memory.ts";
import type { Problem } from "../exporter/model/problem.ts";
import type { StoredAdvice, StoredWithheld } from "../exporter/model/storedAdvice.ts";

/** The ledger between the cycle and the outputs. */
export interface LedgerOutput {
  /** The memory of an earlier process, as far as it is still valid at `at`, seconds since the epoch. */
  readonly memory: (at: number) => Memory;
  /** Everything that the ledger remembered when it was opened. */
  readonly remembered: readonly Remembered[];
  /** Pods that had ended lately when the ledger was opened, by shape. */
  readonly endedShapes: readonly EndedOnDay[];
  /** The time of idle nodes in the last days before the ledger was opened; `null` in a new ledger. */
  readonly idleTime: PastIdleTime | null;
  /** Advice that was open, or had closed lately, when it was opened. */
  readonly advice: readonly StoredAdvice[];
  /**
   * Writes a step, with the changes of the memory and of advice, in the order of the calls. It returns at once: the ledger
   * writes by itself.
   */
  readonly onStep: (
    step: AccruedStep,
    memory: Memory,
    advice?: readonly StoredAdvice[],
    withheld?: readonly StoredWithheld[],
    habits?: readonly RememberedChange[],
  ) => void;
  /** Answers questions about what is written. */
  readonly accounts: Omit<LedgerReader, "close">;
  readonly problems: () => readonly Problem[];
  readonly close: () => Promise<void>;
}

/** An opened ledger, `null` when none is configured, or why the configured one cannot be opened. */
export type PreparedLedger =
  | { readonly ok: true; readonly output: LedgerOutput | null }
  | { readonly ok: false; readonly problem: Problem };

/** Opens the ledger that the configuration names. */
export async function prepareLedger(config: Config): Promise<PreparedLedger> {
  if (config.ledger === undefined) return { ok: true, output: null };
  const { path: file, ...retention } = config.ledger;
  const opened = await openSqliteLedger({ file, retention });
  return opened.ok ? { ok: true, output: connect(opened.ledger, file, config.interval) } : opened;
}

function connect(ledger: Ledger, file: string, intervalSeconds: number): LedgerOutput {
  const reader = createLedgerReader(file);
  let known = rememberedIn(ledger.start);

  return {
    remembered: ledger.start.remembered,
    endedShapes: ledger.start.endedShapes ?? [],
    idleTime: ledger.start.idleTime ?? null,
    memory: (at) => memoryFromLedger(ledger.start, at, intervalSeconds),
    advice: ledger.start.advice ?? [],
    onStep(step, memory, advice = [], withheld = [], habits = []) {
      const next: MemoryAt = { memory, at: step.interval.to };
      const changes = rememberedChanges(known, next);
      ledger.append({ step, advice, withheld, remembered: [...changes, ...step.remembered, ...habits] });
      known = next;
    },
    accounts: reader,
    problems: ledger.problems,
    async close() {
      await Promise.all([ledger.close(), reader.close()]);
    },
  };
}
