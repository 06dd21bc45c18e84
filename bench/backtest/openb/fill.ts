import type { RandomStream } from "../../../simulator/random.ts";
import { milliOf, type OpenbTrace, type TracePod } from "./openbTrace.ts";
import { emptyPacking, type Packing, put, type Task } from "./packing.ts";
import type { Policy } from "./policies.ts";

/** A cluster to which more was sent than it can take. */
export interface FilledCluster {
  readonly packing: Packing;
  /** Tasks that found no place, in the order in which they came. */
  readonly waiting: readonly Task[];
}

/**
 * Draws the tasks that are sent to a cluster: all of the trace, and further ones drawn from it at random until they ask for
 * `demand` times the GPUs of the nodes, in a random order, as the paper's experiments do. A task that runs is caught at a random
 * moment of the time that its row of the trace ran.
 */
export function drawTasks({ nodes, pods }: OpenbTrace, demand: number, random: RandomStream): readonly Task[] {
  const wanted = demand * 1000 * nodes.reduce((sum, { gpus }) => sum + gpus, 0);
  const rows: TracePod[] = shuffled(pods, random);
  let asked = rows.reduce((sum, pod) => sum + milliOf(pod), 0);
  while (asked > wanted) asked -= milliOf(rows.pop() ?? nobody);
  for (;;) {
    const pod = pods[Math.floor(random.next() * pods.length)] ?? nobody;
    if (asked + milliOf(pod) > wanted) break;
    asked += milliOf(pod);
    rows.push(pod);
  }
  const shapes = new Map<string, number>();
  return shuffled(rows, random).map((pod, id): Task => {
    const key = `${pod.cpuMilli} ${pod.memoryMiB} ${pod.gpus} ${pod.gpuMilli}`;
    const shape = shapes.get(key) ?? shapes.size;
    shapes.set(key, shape);
    return { ...pod, id, shape, ageSeconds: Math.floor(random.next() * pod.ranSeconds) };
  });
}

/** Ends every draw where a trace has no pods at all. */
const nobody: TracePod = {
  name: "",
  cpuMilli: 0,
  memoryMiB: 0,
  gpus: 1,
  gpuMilli: Number.POSITIVE_INFINITY,
  qos: "",
  phase: "",
  ranSeconds: 0,
};

function shuffled<T>(list: readonly T[], random: RandomStream): T[] {
  const all = [...list];
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(random.next() * (i + 1));
    const [a, b] = [all[i], all[j]];
    if (a === undefined || b === undefined) continue;
    all[i] = b;
    all[j] = a;
  }
  return all;
}

/** Places tasks one after the other; whoever finds no place waits. */
export function fill(trace: OpenbTrace, tasks: readonly Task[], policy: Policy): FilledCluster {
  const packing = emptyPacking(trace.nodes);
  const waiting: Task[] = [];
  for (const task of tasks) {
    const place = policy(packing, task);
    if (place === null) waiting.push(task);
    else put(packing, task, place);
  }
  return { packing, waiting };
}
