import type { AccountingEntry } from "../analysis/accountingEntry.ts";
import type { Analysis } from "../analysis/analysis.ts";
import { oncePer } from "../kernel/once.ts";
import { createTupleInterner } from "../kernel/tupleInterner.ts";
import type { HealthCause } from "../model/gpuFaults.ts";
import type { HourPart } from "./stepTime.ts";

/**
 * GPU time that has a health cause, within one hour: all time of the state `unavailable`, and the time of GPUs that worked but
 * were slower than they could be. It is a second view of postings and never added to them.
 */
export interface HealthTime {
  /** Start of the hour, seconds since the epoch. */
  readonly hour: number;
  readonly pool: string;
  readonly nodePool: string;
  /** The team that held the GPUs; `null` if nobody did. */
  readonly team: string | null;
  readonly cause: HealthCause;
  readonly currency: string | null;
  readonly gpuSeconds: number;
  /** Cost at the prices of the moment; `null` exactly where the currency is. */
  readonly cost: number | null;
}

/** The GPUs with one cause at one moment. */
export interface HealthGroup extends Omit<HealthTime, "hour" | "gpuSeconds" | "cost"> {
  /** Number of physical GPUs. */
  readonly gpus: number;
  readonly costPerHour: number | null;
}

const secondsPerHour = 3600;

/**
 * The GPUs of a moment by cause, in the order in which they are found. They are announced in one cycle and added in the next.
 */
export const healthGroups = oncePer((analysis: Analysis): readonly HealthGroup[] => {
  const found = analysis.accountingEntries.withCause().filter(({ gpus }) => gpus > 0);
  if (found.length === 0) return [];
  const nodePools = new Map(analysis.snapshot.nodes.map(({ name, nodePool }) => [name, nodePool] as const));
  const ids = createTupleInterner();
  const groups: HealthGroup[] = [];
  for (const entry of found) {
    const { group, perGpuHour } = groupOf(entry, analysis, nodePools);
    const id = ids.idOf([group.pool, group.nodePool, group.team, group.cause, group.currency]);
    const known = groups[id];
    const gpus = (known?.gpus ?? 0) + entry.gpus;
    const costPerHour = perGpuHour === null ? null : (known?.costPerHour ?? 0) + entry.gpus * perGpuHour;
    groups[id] = { ...group, gpus, costPerHour };
  }
  return groups;
});

function groupOf(
  { cause = "unknown", node, pool, pod }: AccountingEntry,
  { snapshot, prices }: Analysis,
  nodePools: ReadonlyMap<string, string>,
) {
  const price = prices.byNode.get(node);
  const team = pod === null ? null : (snapshot.pods[pod]?.team ?? null);
  const group = { pool, nodePool: nodePools.get(node) || "unknown", team, cause, currency: price?.currency ?? null };
  return { group, perGpuHour: price?.perGpuHour ?? null };
}

/** The time of the groups of the earlier moment over a step. */
export function healthTimesOf(before: Analysis, parts: readonly HourPart[]): readonly HealthTime[] {
  const groups = healthGroups(before);
  return parts.flatMap(({ hour, seconds }) =>
    groups.map(({ gpus, costPerHour, ...group }) => ({
      hour,
      ...group,
      gpuSeconds: gpus * seconds,
      cost: costPerHour === null ? null : (costPerHour * seconds) / secondsPerHour,
    })),
  );
}
