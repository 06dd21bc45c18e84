import { milliOf, type TracePod } from "./openbTrace.ts";

/** One kind of task of the target workload, with its popularity. */
export interface TypicalTask {
  readonly cpuMilli: number;
  readonly gpus: number;
  readonly gpuMilli: number;
  /** Part of the target workload, 0..1. */
  readonly popularity: number;
}

/**
 * The target workload of the paper's experiments: the smallest set of kinds, the most frequent first, that covers 95 % of the
 * tasks, those without GPUs included, with their popularity among each other. Pure.
 */
export function typicalTasks(pods: readonly TracePod[], cover = 0.95): readonly TypicalTask[] {
  const counts = new Map<string, { readonly pod: TracePod; count: number }>();
  for (const pod of pods) {
    const key = `${pod.cpuMilli} ${pod.gpus} ${pod.gpuMilli}`;
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { pod, count: 1 });
    else known.count += 1;
  }
  const sorted = [...counts.values()].sort((a, b) => b.count - a.count);
  const kept: { readonly pod: TracePod; readonly count: number }[] = [];
  let covered = 0;
  for (const one of sorted) {
    if (covered >= cover * pods.length) break;
    kept.push(one);
    covered += one.count;
  }
  return kept.map(({ pod: { cpuMilli, gpus, gpuMilli }, count }) => ({
    cpuMilli,
    gpus,
    gpuMilli,
    popularity: count / covered,
  }));
}

/**
 * The expected fragment of a node in thousandths of GPUs, by the case table of Weng et al., "Beware of Fragmentation" (USENIX
 * ATC 2023): what a task drawn from the target workload could not use of what is left. Written from the paper for its own
 * placement, which is a rival here; the exporter has a measure of its own. Pure.
 */
export function fragmentOf(cpuMilli: number, freeMilli: readonly number[], typical: readonly TypicalTask[]): number {
  let left = 0;
  for (const free of freeMilli) left += free;
  if (left === 0) return 0;
  let fragment = 0;
  for (const task of typical) {
    if (milliOf(task) === 0 || cpuMilli < task.cpuMilli) {
      fragment += task.popularity * left;
      continue;
    }
    let usable = 0;
    let tooSmall = 0;
    for (const free of freeMilli) {
      if (free >= task.gpuMilli) usable += 1;
      else tooSmall += free;
    }
    fragment += task.popularity * (usable >= task.gpus ? tooSmall : left);
  }
  return fragment;
}
