import { join } from "node:path";
import { readTable } from "../../../simulator/traceTable.ts";

/** One sample of a pod: seconds on the trace's own clock, and the duty cycle of its GPU in percent. */
export interface DutySample {
  readonly at: number;
  readonly percent: number;
}

/** The samples of each pod in the order of time, by the pod's name. */
export type DutyTrace = ReadonlyMap<string, readonly DutySample[]>;

/** Seconds between two samples of a pod. */
export const sampleSeconds = 57;

/** Reads the duty cycles. Throws if the file cannot be read. */
export function readDuty(folder: string): DutyTrace {
  const pods = new Map<string, DutySample[]>();
  for (const row of readTable(join(folder, "pod_gpu_duty_cycle.csv.gz"))) {
    const pod = row("container_ip");
    const samples = pods.get(pod) ?? [];
    pods.set(pod, samples);
    samples.push({ at: Number(row("timestamp_anon")), percent: Number(row("value")) });
  }
  for (const samples of pods.values()) samples.sort((a, b) => a.at - b.at);
  return pods;
}

/** The shares that are published of the samples. */
export interface DutyShares {
  readonly pods: number;
  readonly samples: number;
  readonly zeros: number;
  readonly meanPercent: number;
  readonly aboveHalf: number;
}

/** Counts samples. Pure. */
export function sharesOf(trace: DutyTrace): DutyShares {
  const all = [...trace.values()].flat();
  return {
    pods: trace.size,
    samples: all.length,
    zeros: all.filter(({ percent }) => percent === 0).length,
    meanPercent: all.reduce((sum, { percent }) => sum + percent, 0) / Math.max(1, all.length),
    aboveHalf: all.filter(({ percent }) => percent > 50).length,
  };
}

/** A time in which every sample of a pod was 0: from the first of them until the next use; `null`: the trace ends before. */
export interface IdleRun {
  readonly from: number;
  readonly until: number | null;
  /** The last sample of the pod. */
  readonly end: number;
}

/** The idle runs of a pod. Pure. */
export function idleRuns(samples: readonly DutySample[]): readonly IdleRun[] {
  const runs: IdleRun[] = [];
  const end = samples.at(-1)?.at ?? 0;
  let from: number | null = null;
  for (const { at, percent } of samples) {
    if (percent === 0) from ??= at;
    else if (from !== null) {
      runs.push({ from, until: at, end });
      from = null;
    }
  }
  if (from !== null) runs.push({ from, until: null, end });
  return runs;
}
