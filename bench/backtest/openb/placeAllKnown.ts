import { milliOf, type OpenbTrace } from "./openbTrace.ts";
import { emptyPacking, type Packing, put, type Task } from "./packing.ts";
import { createPolicy } from "./policies.ts";

/**
 * What someone could allocate who knows all tasks before the first is placed and may let any of them wait: the largest come
 * first, among equals those that ask for the least CPU for their GPUs, each by best fit. It is no bound: a search over all
 * placements might allocate more.
 */
export function placeAllKnown(trace: OpenbTrace, tasks: readonly Task[]): Packing {
  const withGpus = tasks.filter(({ gpus }) => gpus > 0);
  const cpuPerGpu = (task: Task): number => task.cpuMilli / milliOf(task);
  const sorted = withGpus.toSorted((a, b) => b.gpus - a.gpus || cpuPerGpu(a) - cpuPerGpu(b) || milliOf(b) - milliOf(a));
  const policy = createPolicy("best-fit", [], { next: () => 0, between: (from) => from, pick: ([first]) => first });
  const packing = emptyPacking(trace.nodes);
  for (const task of sorted) {
    const place = policy(packing, task);
    if (place !== null) put(packing, task, place);
  }
  return packing;
}
