import type { Analysis } from "../analysis/analysis.ts";
import type { Snapshot } from "../join/snapshot.ts";
import type { Money } from "../model/recommendation.ts";
import { removesEmptyNode } from "./emptyNodes.ts";
import type { Plan } from "./whatIf/plan.ts";
import type { Outcome } from "./whatIf/trial.ts";

/** GPUs of one node that are paid for and not used, and since when (seconds since the epoch). */
export interface UnusedGpus {
  readonly node: string;
  /** Physical GPUs. */
  readonly gpus: number;
  readonly since: number;
}

/** GPUs of several nodes that have been unused since the same time. `gpusByNode`: physical GPUs. */
export const unusedSince = (gpusByNode: ReadonlyMap<string, number>, since: number): readonly UnusedGpus[] =>
  [...gpusByNode].map(([node, gpus]) => ({ node, gpus, since }));

const weekSeconds = 168 * 3600;

/**
 * By how much the last 168 hours would have been cheaper: price per GPU-hour x GPUs x those of the hours in which the GPUs were
 * unused. A whole week is claimed only for GPUs that have been unused for a week. Money is saved only
 * - for whole nodes that go away: those that the plan removes, and those that it empties and an autoscaler removes by itself.
 * - for unused GPUs that waiting work then takes, for as long as they were unused and the work waited.
 *
 * Reserved capacity is paid for either way, and anything else is a gain in GPUs, not in money. The result has one amount for
 * each currency, in order; nodes without a price are left out.
 */
export function savedMoney(
  analysis: Analysis,
  plan: Plan,
  unused: readonly UnusedGpus[],
  { started, moved }: Pick<Outcome, "started" | "moved">,
): readonly Money[] {
  if (unused.length === 0) return [];
  const { at, nodes } = analysis.snapshot;
  const reserved = new Set(nodes.flatMap(({ name, capacityType }) => (capacityType === "reserved" ? [name] : [])));
  const amounts = new Map<string, number>();
  const add = (node: string, gpus: number, since: number): void => {
    const price = reserved.has(node) ? undefined : analysis.prices.byNode.get(node);
    const seconds = Math.min(weekSeconds, Math.max(0, at - since));
    const amount = ((price?.perGpuHour ?? 0) * gpus * seconds) / 3600;
    if (price !== undefined && amount > 0) amounts.set(price.currency, (amounts.get(price.currency) ?? 0) + amount);
  };
  const gone = goneNodes(analysis, plan, started.length === 0 && moved.length === 0);
  for (const index of gone) {
    const node = nodes[index];
    const own = unused.filter((one) => one.node === node?.name);
    if (node === undefined || own.length === 0) continue;
    add(node.name, node.physicalGpus ?? 0, Math.max(...own.map(({ since }) => since)));
  }
  const goneNames = new Set([...gone].map((index) => nodes[index]?.name));
  const left = unused.filter(({ node }) => !goneNames.has(node));
  const all = left.reduce((sum, { gpus }) => sum + gpus, 0);
  const gangs = started.flatMap((gang) => analysis.snapshot.queueing.gangs[gang] ?? []);
  const wanted = gangs.reduce((sum, { gpus }) => sum + (gpus ?? 0), 0);
  // What gangs take beyond all unused GPUs together was free before.
  const part = wanted > 0 ? 1 / Math.max(all, wanted) : 0;
  for (const { gpus: taken, since: waits } of gangs)
    for (const { node, gpus, since } of left) add(node, gpus * (taken ?? 0) * part, Math.max(since, waits ?? at));
  return [...amounts]
    .map(([currency, amount]) => ({ currency, amount }))
    .sort((a, b) => (a.currency < b.currency ? -1 : 1));
}

/** The smallest amount among several outcomes, for each currency. */
export function leastMoney(outcomes: readonly (readonly Money[])[]): readonly Money[] {
  const [first = [], ...others] = outcomes;
  return first.flatMap(({ currency, amount }) => {
    const least = Math.min(
      amount,
      ...others.map((money) => money.find((one) => one.currency === currency)?.amount ?? 0),
    );
    return least > 0.005 ? [{ currency, amount: least }] : [];
  });
}

/** Indices of nodes that go away: removed by the plan, or emptied by it and then removed by an autoscaler. */
function goneNodes({ snapshot, idleNodes }: Analysis, { changes }: Plan, nothingComes: boolean): ReadonlySet<number> {
  const gone = new Set(changes.flatMap((change) => (change.kind === "removeNode" ? [change.node] : [])));
  const stopped = new Set(
    changes.flatMap((change) => (change.kind === "stop" ? (snapshot.workloads[change.workload]?.pods ?? []) : [])),
  );
  if (stopped.size === 0 || !nothingComes) return gone;
  const names = new Set([...stopped].flatMap((pod) => snapshot.pods[pod]?.node ?? []));
  const perPool = new Map<string, number>();
  for (const [index, node] of snapshot.nodes.entries()) {
    if (!names.has(node.name) || idleNodes.warm.has(index) || !isEmptied(snapshot, index, stopped)) continue;
    const pool = snapshot.nodePools.find(({ name }) => name === node.nodePool);
    const before = perPool.get(node.nodePool) ?? 0;
    if (pool === undefined || !removesEmptyNode(pool, node, before)) continue;
    perPool.set(node.nodePool, before + 1);
    gone.add(index);
  }
  return gone;
}

function isEmptied({ nodes, devices }: Snapshot, index: number, stopped: ReadonlySet<number>): boolean {
  const holders = (nodes[index]?.devices ?? []).flatMap((device) => devices[device]?.holders ?? []);
  return holders.length > 0 && holders.every(({ pod }) => stopped.has(pod));
}
