import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { Truth, TruthQueue } from "../../simulator/truth.ts";

/** One number that the exporter and the simulator disagree on. */
export interface Difference {
  readonly what: string;
  readonly found: number;
  readonly truth: number;
}

/** How many numbers were compared, and which of them differ. */
export interface Comparison {
  readonly numbers: number;
  readonly differences: readonly Difference[];
}

/** The GPU time that a process has counted since its start. */
export interface AccountedGpuTime {
  readonly gpuSeconds: number;
  readonly coveredSeconds: number;
}

const tolerance = 1e-6;
/** The part of the GPU time by which the accounts may differ from it. */
const closedTo = 1e-9;

/**
 * Compares what the exporter found with what the simulator knows: physical GPUs of each node, allocated GPUs of each team,
 * allocated and waiting GPUs of each queue, and, for a cluster whose GPUs stayed the same, the GPU time that was counted since
 * the start.
 */
export function compareWithTruth(
  analysis: Analysis,
  truth: Truth,
  teamOfUnlabelled: string,
  accounted: AccountedGpuTime | null = null,
): Comparison {
  const pairs: Difference[] = [];
  const nodes = new Map(analysis.snapshot.nodes.map((node) => [node.name, node.physicalGpus ?? 0] as const));
  for (const node of truth.nodes) {
    if (node.physicalGpus > 0)
      pairs.push({ what: `GPUs of node ${node.name}`, found: nodes.get(node.name) ?? 0, truth: node.physicalGpus });
  }
  const allocated = new Map(analysis.teams.map((team) => [team.team, team.allocated] as const));
  const really = new Map(truth.teams.map((team) => [team.team ?? teamOfUnlabelled, team.allocated] as const));
  for (const team of new Set([...allocated.keys(), ...really.keys()])) {
    pairs.push({ what: `GPUs allocated to ${team}`, found: allocated.get(team) ?? 0, truth: really.get(team) ?? 0 });
  }
  for (const queue of truth.queues) {
    const name = `queue ${queue.queue} of ${queue.system}`;
    const found = leavesOf(analysis, queue);
    pairs.push({ what: `GPUs allocated in ${name}`, found: found.allocated, truth: queue.allocated });
    if (found.pending !== null)
      pairs.push({ what: `GPUs that wait in ${name}`, found: found.pending, truth: queue.waiting });
  }
  const physical = truth.nodes.reduce((sum, node) => sum + node.physicalGpus, 0);
  const inStates = analysis.accountingEntries.gpus.reduce((sum, gpus) => sum + gpus, 0);
  pairs.push({ what: "GPUs counted in all states", found: inStates, truth: physical });
  if (accounted !== null)
    pairs.push({
      what: "GPU-seconds counted in all states",
      found: accounted.gpuSeconds,
      truth: physical * accounted.coveredSeconds,
    });
  return { numbers: pairs.length, differences: pairs.filter(isDifferent) };
}

/**
 * The GPUs that are allocated and that wait in a queue; the latter are `null` if some of its waiting work asks for an unknown
 * number of GPUs.
 */
function leavesOf(
  { snapshot }: Analysis,
  { system, queue }: TruthQueue,
): { readonly allocated: number; readonly pending: number | null } {
  const { queues, gangs } = snapshot.queueing;
  const leaves = queues.filter(({ scheduler, name, isLeaf }) => isLeaf && scheduler === system && name === queue);
  const isUnknown = leaves.some((leaf) => leaf.gangs.some((gang) => gangs[gang]?.gpus === null));
  return {
    allocated: leaves.reduce((sum, leaf) => sum + leaf.allocated, 0),
    pending: isUnknown ? null : leaves.reduce((sum, leaf) => sum + leaf.pending, 0),
  };
}

function isDifferent({ found, truth }: Difference): boolean {
  return Math.abs(found - truth) > Math.max(tolerance, closedTo * truth);
}
