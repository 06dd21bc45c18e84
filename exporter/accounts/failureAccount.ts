import { type FailedWork, failureHorizonSeconds } from "../join/failedWork.ts";
import type { Snapshot } from "../join/snapshot.ts";
import type { FailureError } from "../model/gpuFaults.ts";
import type { SeenError } from "./applicationErrors.ts";
import { createOnceShown } from "./onceShown.ts";
import { createSeen } from "./queueEvents.ts";
import { createSeriesTable, type Mutable, shared } from "./seriesTable.ts";

/** A failure that was not seen before. */
export interface SeenFailure extends Omit<FailedWork, "from"> {
  /** GPU time that the failure undid and that no earlier failure of the pod had undone; `null` where it is not known. */
  readonly lostGpuSeconds: number | null;
  readonly error: FailureError;
}

/** The failures of one team's programs that have the same error. */
export interface FailureTotals {
  readonly team: string;
  readonly error: FailureError;
  readonly failures: number;
  /** The lost GPU time; an upper bound where no checkpoint is known. */
  readonly lostGpuSeconds: number;
}

/** Counts the programs that failed, and the GPU time that their failures undid. */
export interface FailureAccount {
  /**
   * Returns the failures that are new in a moment. Those from before the first moment are for the ledger alone, which knows
   * their keys. `errorOf` gives the last error of a pod's GPU.
   */
  see(snapshot: Snapshot, errorOf: (uid: string) => SeenError | null): readonly SeenFailure[];
  totals(): readonly FailureTotals[];
}

/** The part of `limits.series` that these series may take, for two series of each label set. */
const budget = 0.01 / 2;
/**
 * An error explains a failure if they are at most this many seconds apart: a program ends soon after the error that ends it,
 * and pages are read every half minute.
 */
const nearSeconds = 300;

/** Creates an account that has seen nothing yet. `teamLabel` gives a team's label, within the budget of teams. */
export function createFailureAccount(series: number, teamLabel: (team: string) => string): FailureAccount {
  type Labels = Pick<FailureTotals, "team" | "error">;
  const table = createSeriesTable<Labels, Mutable<FailureTotals>>(
    series * budget,
    ({ team, error }) => ({ team: shared(team), error }),
    ({ team }) => ({ team: shared(team), error: "unknown" }),
    (labels) => ({ ...labels, failures: 0, lostGpuSeconds: 0 }),
  );
  const seen = createSeen(failureHorizonSeconds);
  /** For each pod (uid): the time up to which its work is undone already. */
  const undone = new Map<string, number>();
  const events = createOnceShown();
  let since: number | null = null;

  function seenFailure({ from, ...work }: FailedWork, errorOf: (uid: string) => SeenError | null): SeenFailure {
    const begin = from === null ? null : Math.max(from, undone.get(work.uid) ?? from);
    undone.set(work.uid, Math.max(work.at, undone.get(work.uid) ?? work.at));
    const lost = begin === null || work.gpus === null ? null : work.gpus * Math.max(0, work.at - begin);
    const found = errorOf(work.uid);
    const isNear = found !== null && found.at >= (begin ?? work.at) && Math.abs(found.at - work.at) <= nearSeconds;
    return { ...work, lostGpuSeconds: lost, error: isNear ? found.error : "unknown" };
  }

  function count({ team, error, lostGpuSeconds }: SeenFailure): void {
    events.count(
      table,
      () => table.cell({ team: teamLabel(team), error }),
      (cell) => {
        cell.failures += 1;
        cell.lostGpuSeconds += lostGpuSeconds ?? 0;
      },
    );
  }

  return {
    see({ at, failures = [] }, errorOf) {
      const isFirst = since === null;
      since ??= at;
      const begin = since;
      events.begin();
      seen.forget(at);
      for (const [uid, until] of undone) if (until < at - 2 * failureHorizonSeconds) undone.delete(uid);
      const found = [...failures]
        .sort((a, b) => a.at - b.at)
        .filter((work) => seen.isNew(work.key, work.at, at))
        .map((work) => seenFailure(work, errorOf));
      for (const failure of found) if (!isFirst && failure.at >= begin) count(failure);
      return found;
    },
    totals: () => table.cells,
  };
}
