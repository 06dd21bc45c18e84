import type { Problem } from "../../model/problem.ts";
import type { StoredAdvice } from "../../model/storedAdvice.ts";
import type { PastIdleTime } from "../idleHours.ts";
import type { PackedShape } from "./endedShapes.ts";
import type { LedgerInterval, LedgerRetention, Remembered } from "./ledger.ts";
import type { PackedEntry } from "./packedEntry.ts";

/** The settings that the writer's thread is started with. */
export interface WriterSettings {
  readonly file: string;
  readonly retention: LedgerRetention;
  readonly migrations: readonly string[];
  /** The most pages that the file may have, for tests of a full disk; `null` if there is no limit. */
  readonly maxPages: number | null;
  /** SQLite's layer over the file system, for tests of a file system without shared memory; `null` for the default. */
  readonly vfs: string | null;
}

/** A request to the writer's thread. The thread ends after `close`, which is not answered. */
export type WriterRequest =
  | { readonly kind: "write"; readonly number: number; readonly entry: PackedEntry }
  | { readonly kind: "close" };

/** A report of the writer's thread. `opened` or `refused` comes first. */
export type WriterReport =
  | {
      readonly kind: "opened";
      readonly lastInterval: LedgerInterval | null;
      readonly remembered: readonly Remembered[];
      readonly endedShapes: readonly PackedShape[];
      readonly idleTime: PastIdleTime | null;
      readonly advice: readonly StoredAdvice[];
      /** The number of the last entry in the file. */
      readonly lastEntry: number;
      /** What was repaired before the ledger could be opened; `null` if nothing was. */
      readonly notice: Problem | null;
    }
  | { readonly kind: "refused"; readonly problem: Problem }
  | { readonly kind: "written"; readonly number: number }
  | { readonly kind: "failed"; readonly number: number; readonly problem: Problem; readonly tryAgain: boolean };
