/**
 * What placement must answer, in the most obvious way: straight from the case table of Weng et al. (USENIX ATC 2023), with
 * memory counted like CPU. Nothing of the exporter is used here.
 */

/** What a node has left. */
export interface NaiveNode {
  readonly cpu: number;
  readonly memory: number;
  /** The free part of each of its GPUs, 0..1. */
  readonly free: readonly number[];
  readonly model: string;
}

/** One kind of pod of the target workload. */
export interface NaiveTask {
  readonly cpu: number;
  readonly memory: number;
  /** GPUs, and the part of each that it takes; below 1 only for one GPU, 0 for none. */
  readonly gpus: number;
  readonly share: number;
  /** Models it can use; empty: any. */
  readonly models: readonly string[];
  readonly popularity: number;
}

/** The cases of the table, and `satisfied` for what the task could use. */
export const naiveCases = [
  "satisfied",
  "no_gpu_task",
  "no_access",
  "lack_gpu",
  "lack_cpu",
  "lack_memory",
  "lack_cpu_and_memory",
  "lack_both",
] as const;

export type NaiveCase = (typeof naiveCases)[number];

export type NaiveAmounts = Record<NaiveCase, number>;

/** No GPU in any case. */
export function noAmounts(): NaiveAmounts {
  return {
    satisfied: 0,
    no_gpu_task: 0,
    no_access: 0,
    lack_gpu: 0,
    lack_cpu: 0,
    lack_memory: 0,
    lack_cpu_and_memory: 0,
    lack_both: 0,
  };
}

/** The row of the table that is true of a task on a node. */
export function caseOf(node: NaiveNode, task: NaiveTask): NaiveCase {
  if (task.gpus === 0 || task.share === 0) return "no_gpu_task";
  if (task.models.length > 0 && !task.models.includes(node.model)) return "no_access";
  let enough = 0;
  for (const free of node.free) if (free >= task.share) enough += 1;
  const hasGpus = enough >= task.gpus;
  const hasCpu = node.cpu >= task.cpu;
  const hasMemory = node.memory >= task.memory;
  if (hasGpus && hasCpu && hasMemory) return "satisfied";
  if (hasGpus && hasMemory) return "lack_cpu";
  if (hasGpus && hasCpu) return "lack_memory";
  if (hasGpus) return "lack_cpu_and_memory";
  if (hasCpu && hasMemory) return "lack_gpu";
  return "lack_both";
}

/** F_n(m) of a node and a task, by case; all cases together are what the node has free. */
export function naiveFragments(node: NaiveNode, task: NaiveTask): NaiveAmounts {
  const amounts = noAmounts();
  let all = 0;
  for (const free of node.free) all += free;
  const found = caseOf(node, task);
  if (found === "satisfied") {
    let rest = 0;
    for (const free of node.free) if (free < task.share) rest += free;
    amounts.lack_gpu = rest;
    amounts.satisfied = all - rest;
  } else amounts[found] = all;
  return amounts;
}

/** F_n(M) summed over nodes: each task's fragments weighted by how popular it is. */
export function naiveFragmentation(nodes: readonly NaiveNode[], tasks: readonly NaiveTask[]): NaiveAmounts {
  const sums = noAmounts();
  for (const node of nodes) {
    for (const task of tasks) {
      const fragments = naiveFragments(node, task);
      for (const one of naiveCases) sums[one] += task.popularity * fragments[one];
    }
  }
  return sums;
}

/** All that is expected to be of no use: every case but `satisfied`. */
export function unusable(amounts: NaiveAmounts): number {
  let sum = 0;
  for (const one of naiveCases) if (one !== "satisfied") sum += amounts[one];
  return sum;
}

/** The smallest number of kinds that covers 95 % of the pods, the most common first, with popularities that add up to 1. */
export function naiveTarget(pods: readonly Omit<NaiveTask, "popularity">[], part = 0.95): readonly NaiveTask[] {
  const counts = new Map<string, { readonly pod: Omit<NaiveTask, "popularity">; count: number }>();
  for (const pod of pods) {
    const key = JSON.stringify([pod.cpu, pod.memory, pod.gpus, pod.share, pod.models.toSorted()]);
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { pod, count: 1 });
    else known.count += 1;
  }
  const ranked = [...counts.values()].toSorted((a, b) => b.count - a.count);
  let covered = 0;
  const kept: { readonly pod: Omit<NaiveTask, "popularity">; readonly count: number }[] = [];
  for (const one of ranked) {
    if (covered >= part * pods.length) break;
    kept.push(one);
    covered += one.count;
  }
  return kept.map(({ pod, count }) => ({ ...pod, popularity: count / covered }));
}
