import { startAt } from "./followAdvice.ts";
import { fragmentOf, type TypicalTask } from "./fragmentation.ts";
import type { LiveCluster } from "./liveCluster.ts";
import { milliOf } from "./openbTrace.ts";
import { fits, type PackedNode } from "./packing.ts";

/** Moves at most `moves` tasks. */
export type Descheduler = (cluster: LiveCluster, moves: number) => void;

/** Below this part of their GPUs nodes are underutilized: the only threshold of HighNodeUtilization here. */
const underutilized = 0.5;

/**
 * HighNodeUtilization of the Kubernetes descheduler: evicts from the nodes below the threshold, the least utilized first, the
 * pods that fit on another node; in its documented use the scheduler prefers nodes that are already used.
 */
export const highNodeUtilization: Descheduler = (cluster, moves) => {
  const { nodes } = cluster.packing;
  const low = nodes.filter((node) => usedPart(node) > 0 && usedPart(node) < underutilized);
  const isLow = new Set(low);
  const targets = nodes.filter((node) => !isLow.has(node));
  let left = moves;
  for (const node of low.toSorted((a, b) => usedPart(a) - usedPart(b))) {
    const own = [...node.tasks].flatMap((id) => cluster.tasks.get(id) ?? []);
    for (const task of own.toSorted((a, b) => Number(a.qos === "LS") - Number(b.qos === "LS"))) {
      if (left === 0) return;
      if (task.gpus === 0 || !targets.some((target) => fits(target, task))) continue;
      cluster.evict(task.id, startAt);
      cluster.serveWaiting(startAt);
      left -= 1;
    }
  }
};

const usedPart = ({ node, freeMilli }: PackedNode): number =>
  1 - freeMilli.reduce((sum, free) => sum + free, 0) / (1000 * node.gpus);

/**
 * The descheduler that the paper's authors publish with their simulator (`fragOnePod`): from the most fragmented node down it
 * evicts the one task whose leaving lowers the fragment of its node most, then places all of them again.
 */
export const fragOnePod =
  (typical: readonly TypicalTask[]): Descheduler =>
  (cluster, moves) => {
    const sorted = cluster.packing.nodes
      .map((node) => ({ node, before: fragmentOf(node.cpuMilli, node.freeMilli, typical) }))
      .sort((a, b) => b.before - a.before);
    const victims: number[] = [];
    for (const { node, before } of sorted) {
      if (victims.length === moves) break;
      const victim = worstOf(cluster, node, before, typical);
      if (victim !== null) victims.push(victim);
    }
    cluster.replaceAll(victims, startAt);
    cluster.serveWaiting(startAt);
  };

/** The task (id) whose leaving lowers the fragment of a node most; `null` if no leaving lowers it. */
function worstOf(
  { tasks, packing }: LiveCluster,
  node: PackedNode,
  before: number,
  typical: readonly TypicalTask[],
): number | null {
  let worst: number | null = null;
  let most = 0;
  for (const id of node.tasks) {
    const task = tasks.get(id);
    if (task === undefined || milliOf(task) === 0) continue;
    const freeMilli = [...node.freeMilli];
    for (const gpu of packing.places.get(id)?.gpus ?? []) freeMilli[gpu] = (freeMilli[gpu] ?? 0) + task.gpuMilli;
    const fall = Math.trunc(before - fragmentOf(node.cpuMilli + task.cpuMilli, freeMilli, typical));
    if (fall > most) [worst, most] = [id, fall];
  }
  return worst;
}
