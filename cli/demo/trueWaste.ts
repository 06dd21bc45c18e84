import { gpuModels } from "../../simulator/gpuModels.ts";
import type { Habit, Scenario } from "../../simulator/scenario.ts";
import type { Truth, TruthGpu } from "../../simulator/truth.ts";

/** What a simulated cluster really wastes at one moment, physical GPUs; by nothing but the simulator's own words. */
export interface TrueWaste {
  /** On nodes that are there, and so are paid for, and not busy: allocated or not. */
  readonly paidNotBusy: number;
  /** Asked for by work that waits for nodes although as many GPUs of its model are free. */
  readonly blocked: number;
  /** That queues lack of what they are sure of and want, while others hold more than they are sure of. */
  readonly unfair: number;
  /** Really busy. */
  readonly busy: number;
  /** Nodes that are there. */
  readonly nodes: number;
}

/** Looks at a cluster of a scenario. */
export function trueWaste(scenario: Scenario, truth: Truth): TrueWaste {
  const busy = truth.physicalGpus.reduce((sum, { activity }) => sum + activity, 0);
  const paid = truth.nodes.reduce((sum, { physicalGpus }) => sum + physicalGpus, 0);
  return {
    paidNotBusy: paid - busy,
    blocked: blockedGpus(truth, scenario.habits),
    unfair: unfairGpus(truth, scenario),
    busy,
    nodes: truth.nodes.length,
  };
}

const allocatedOf = ({ holders }: TruthGpu): number => holders.reduce((sum, { share }) => sum + share, 0);

/** Work that waits for a place on nodes: what waits for its quota has no pods. */
function blockedGpus({ pending, physicalGpus, nodes }: Truth, habits: readonly Habit[]): number {
  const schedulable = new Set(nodes.filter((node) => node.schedulable && node.ready).map(({ name }) => name));
  let blocked = 0;
  for (const [work, pods] of Map.groupBy(pending, ({ namespace, workload }) => `${namespace}/${workload}`)) {
    const name = work.slice(work.indexOf("/") + 1);
    const models = habits.find((habit) => name.startsWith(`${habit.name}-`))?.workload.models ?? [];
    const usable = physicalGpus.filter(
      ({ gpuModel, node, healthy }) =>
        healthy &&
        schedulable.has(node) &&
        (models.length === 0 || models.some((model) => gpuModels[model].name === gpuModel)),
    );
    const free = usable.reduce((sum, physicalGpu) => sum + 1 - allocatedOf(physicalGpu), 0);
    const wanted = pods.reduce((sum, { gpus }) => sum + (gpus ?? 0), 0);
    if (wanted > 0 && wanted <= free + 1e-9) blocked += wanted;
  }
  return blocked;
}

/** Of queues of Kueue, one flavor each: what is sure is the nominal quota. */
function unfairGpus({ queues }: Truth, { queueing }: Scenario): number {
  let [short, above] = [0, 0];
  for (const { name, quotas } of queueing.kueue?.clusterQueues ?? []) {
    const sure = quotas.reduce((sum, { nominal }) => sum + nominal, 0);
    const found = queues.find(({ system, queue }) => system === "kueue" && queue === name);
    if (found === undefined) continue;
    short += Math.max(0, Math.min(sure, found.allocated + found.waiting) - found.allocated);
    above += Math.max(0, found.allocated - sure);
  }
  return Math.min(short, above);
}
