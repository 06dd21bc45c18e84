import type { RandomStream } from "../../../simulator/random.ts";
import { fragmentOf, type TypicalTask } from "./fragmentation.ts";
import { milliOf } from "./openbTrace.ts";
import { fits, type PackedNode, type Packing, type Place, type Task, wholeGpus } from "./packing.ts";

/**
 * The placements that are compared. `fgd` is the paper's own; `fgd-any` is the same with equals decided at random, as
 * kube-scheduler does.
 */
export const policyNames = ["random", "best-fit", "fgd", "fgd-any"] as const;

export type PolicyName = (typeof policyNames)[number];

/** A scheduler: where a task goes now; `null` if no node takes it. */
export type Policy = (packing: Packing, task: Task) => Place | null;

/** What one node is worth to a task: the highest wins. */
interface Choice {
  readonly score: number;
  readonly gpus: readonly number[];
}

/** Whether a node replaces the best so far, which has the same score; `equals` counts both. */
type TakesOver = (equals: number) => boolean;

/** The largest node of the trace, by which the published score is normalised, in thousandths. */
const largest = { cpuMilli: 128_000, gpuMilli: 8_000 } as const;

/**
 * Makes a scheduler with the scores that hkust-adsl/kubernetes-scheduler-simulator publishes, which are whole numbers from 0 to
 * 100. Of equal nodes the first of the list wins, with which the published outcome is found again; `random` and `fgd-any` take
 * any of them.
 */
export function createPolicy(name: PolicyName, typical: readonly TypicalTask[], random: RandomStream): Policy {
  const any: TakesOver = (equals) => random.next() * equals < 1;
  const first: TakesOver = () => false;
  if (name === "random") return (packing, task) => choose(packing, task, (node) => anyGpus(node, task, random), any);
  const takesOver = name === "fgd-any" ? any : first;
  const known = new Map<number, { readonly version: number; readonly choice: Choice }[]>();
  return (packing, task) => {
    const ofShape = known.get(task.shape) ?? [];
    known.set(task.shape, ofShape);
    const judge = (node: PackedNode, index: number): Choice => {
      const before = ofShape[index];
      if (before !== undefined && before.version === node.version) return before.choice;
      const choice = name === "best-fit" ? bestFit(node, task) : leastFragment(node, task, typical);
      ofShape[index] = { version: node.version, choice };
      return choice;
    };
    return choose(packing, task, judge, takesOver);
  };
}

function choose(
  { nodes }: Packing,
  task: Task,
  judge: (node: PackedNode, index: number) => Choice,
  takesOver: TakesOver,
): Place | null {
  let best: (Choice & Place) | null = null;
  let equals = 0;
  for (const [index, node] of nodes.entries()) {
    if (!fits(node, task)) continue;
    const choice = judge(node, index);
    if (best !== null && choice.score < best.score) continue;
    equals = best?.score === choice.score ? equals + 1 : 1;
    if (equals === 1 || takesOver(equals)) best = { ...choice, node: index };
  }
  return best === null ? null : { node: best.node, gpus: best.gpus };
}

function anyGpus(node: PackedNode, task: Task, random: RandomStream): Choice {
  if (!isPart(task)) return { score: 0, gpus: wholeGpus(node, task) };
  const able = node.freeMilli.flatMap((free, gpu) => (free >= task.gpuMilli ? [gpu] : []));
  return { score: 0, gpus: [able[Math.floor(random.next() * able.length)] ?? 0] };
}

/** The least that is left of CPU and GPUs after the task; a part of a GPU goes where the least is left of the GPU. */
function bestFit(node: PackedNode, task: Task): Choice {
  const free = node.freeMilli.reduce((a, b) => a + b, 0);
  const cpu = (node.cpuMilli - task.cpuMilli) / largest.cpuMilli;
  const gpu = (free - milliOf(task)) / largest.gpuMilli;
  const score = Math.trunc((1 - (cpu + gpu) / 2) * 100);
  if (!isPart(task)) return { score, gpus: wholeGpus(node, task) };
  let least = -1;
  for (const [index, left] of node.freeMilli.entries())
    if (left >= task.gpuMilli && (least < 0 || left < (node.freeMilli[least] ?? 0))) least = index;
  return { score, gpus: [least] };
}

/** By how much the expected fragment of the node falls, through a sigmoid; a part of a GPU is tried on each GPU. */
function leastFragment(node: PackedNode, task: Task, typical: readonly TypicalTask[]): Choice {
  const before = fragmentOf(node.cpuMilli, node.freeMilli, typical);
  const cpuMilli = node.cpuMilli - task.cpuMilli;
  const scoreOf = (gpus: readonly number[]): number => {
    const after = [...node.freeMilli];
    for (const gpu of gpus) after[gpu] = (after[gpu] ?? 0) - task.gpuMilli;
    const fall = before - fragmentOf(cpuMilli, after, typical);
    return Math.trunc(100 / (1 + Math.exp(-fall / 1000)));
  };
  if (!isPart(task)) {
    const gpus = wholeGpus(node, task);
    return { score: scoreOf(gpus), gpus };
  }
  let best: Choice | null = null;
  for (const [gpu, free] of node.freeMilli.entries()) {
    if (free < task.gpuMilli) continue;
    const score = scoreOf([gpu]);
    if (best === null || score > best.score) best = { score, gpus: [gpu] };
  }
  return best ?? { score: 0, gpus: [] };
}

const isPart = ({ gpus, gpuMilli }: Task): boolean => gpus === 1 && gpuMilli < 1000;
