import { gpuModels } from "../../simulator/gpuModels.ts";
import type { Habit, Scenario } from "../../simulator/scenario.ts";
import type { Truth, TruthGpu } from "../../simulator/truth.ts";

/** What a simulated cluster really wastes at one moment, physical GPUs, by the simulator's own truth alone. */
export interface TrueWaste {
  /** GPUs that are not busy, allocated or not, on nodes that exist and so are paid for. */
  readonly paidNotBusy: number;
  /** GPUs for work that waits for nodes although as many GPUs of its model are free. */
  readonly blocked: number;
  /** GPUs that queues want and are guaranteed but do not hold, while others hold more than they are guaranteed. */
  readonly unfair: number;
  /** GPUs that are really busy. */
  readonly busy: number;
  /** The number of nodes that exist. */
  readonly nodes: number;
}

/** The waste of a cluster that plays this scenario. */
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

/** GPUs for work that waits for a place on nodes. Work that waits for its quota is not counted: it has no pods. */
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

/** Unfair GPUs of queues of Kueue with one flavor each: the guarantee is the nominal quota. */
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
