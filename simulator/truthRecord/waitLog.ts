import type { Truth, TruthWork } from "../truth.ts";

/**
 * Waits that have ended. `admission` lasts until the queue let the work go on; `start` lasts from then on (without a queue:
 * from its creation).
 */
export interface TruthWaits {
  /** The queue, or the class of size; `null`: work without a queue. */
  readonly of: string | null;
  readonly phase: "admission" | "start" | "total";
  readonly count: number;
  readonly p50Seconds: number;
  readonly p95Seconds: number;
}

/** Records the waits of work, each once. */
export interface WaitLog {
  look(truth: Truth): void;
  byQueue(): readonly TruthWaits[];
  bySize(): readonly TruthWaits[];
}

interface Wait {
  readonly queue: string | null;
  readonly size: string;
  readonly phase: TruthWaits["phase"];
  readonly seconds: number;
}

/**
 * Collects the waits that end in [from, to), seconds since the epoch. In a queue, a wait ends when the work runs; without one,
 * when the work has its GPUs.
 */
export function createWaitLog(from: number, to: number): WaitLog {
  const waits: Wait[] = [];
  const seen = new Set<string>();

  function note(work: TruthWork): void {
    const { queue, namespace, name, since, admittedAt } = work;
    const endedAt = queue === null ? work.boundAt : work.startedAt;
    if (endedAt === null || admittedAt === null || endedAt < from || endedAt >= to) return;
    const key = `${namespace}/${name} ${endedAt}`;
    if (seen.has(key)) return;
    seen.add(key);
    const size = sizeOf(work.gpus - work.waitingGpus);
    const add = (phase: Wait["phase"], seconds: number): void => void waits.push({ queue, size, phase, seconds });
    if (queue !== null) add("admission", admittedAt - since);
    add("start", endedAt - (queue === null ? since : admittedAt));
    add("total", endedAt - since);
  }

  const grouped = (of: (wait: Wait) => string | null): readonly TruthWaits[] =>
    [...Map.groupBy(waits, (wait) => JSON.stringify([of(wait), wait.phase])).values()].flatMap((group) => {
      const [first] = group;
      return first === undefined
        ? []
        : [
            summary(
              of(first),
              first.phase,
              group.map(({ seconds }) => seconds),
            ),
          ];
    });
  return {
    look: ({ works }) => works.forEach(note),
    byQueue: () => grouped(({ queue }) => queue),
    bySize: () => grouped(({ size }) => size),
  };
}

function summary(of: string | null, phase: TruthWaits["phase"], seconds: readonly number[]): TruthWaits {
  const sorted = [...seconds].sort((a, b) => a - b);
  return { of, phase, count: sorted.length, p50Seconds: quantile(sorted, 0.5), p95Seconds: quantile(sorted, 0.95) };
}

/** The smallest value that this part of all values does not exceed (nearest rank); 0 without any. */
export function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0;
}

/** The class of size of a workload with this many physical GPUs. */
function sizeOf(gpus: number): string {
  if (gpus < 1) return "<1";
  if (gpus < 2) return "1";
  if (gpus < 8) return "2-7";
  if (gpus < 9) return "8";
  return gpus < 64 ? "9-63" : "64+";
}
