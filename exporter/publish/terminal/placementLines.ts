import type { Analysis } from "../../analysis/analysis.ts";
import type { BlockedWork } from "../../analysis/blocked/blocked.ts";
import type { PoolPlacement } from "../../analysis/placement/poolPlacement.ts";
import type { LevelFit } from "../../analysis/topology/topology.ts";
import { duration, gpus, plainText } from "./columns.ts";
import { fold, type Line } from "./layout.ts";
import { levelText } from "./topologyLines.ts";

const shownBlocked = 5;

/**
 * Lines about what fits into the free GPUs of each pool as they are now, and about work that does not fit although enough GPUs
 * are free. There are none where objects were not read, because then nobody knows which GPUs are free.
 */
export function placementLines(analysis: Analysis): readonly Line[] {
  const { placement, blocked, snapshot } = analysis;
  if (!snapshot.coverage.objects) return [];
  const pools = placement.pools.filter(hasFree);
  if (pools.length === 0 && blocked.work.length === 0) return [];
  const width = Math.max(4, ...pools.map(({ pool }) => plainText(pool, 24).length));
  const levels = new Map(analysis.topology.pools.map((pool) => [pool.pool, pool.levels]));
  const indent = " ".repeat(width + 4);
  const lines = pools.flatMap((pool) => [
    ...fold(`  ${plainText(pool.pool, 24).padEnd(width)}  ${fitText(pool)}`, indent),
    ...(levels.get(pool.pool) ?? [])
      .filter(hasDomainOfNodes)
      .flatMap((level) => fold(`${indent}${levelText(level)}`, `${indent}  `)),
  ]);
  return ["WHAT FITS NOW", ...lines, ...blockedLines(analysis)];
}

/** A level whose domains are single nodes says nothing that the line of the pool does not. */
const hasDomainOfNodes = ({ domains }: LevelFit): boolean => domains.some(({ nodes }) => nodes > 1);

const hasFree = ({ freeGpus, sharedFreeGpus, partitionedFreeGpus }: PoolPlacement): boolean =>
  freeGpus + sharedFreeGpus + partitionedFreeGpus > 1e-6;

/**
 * Writes what fits into a pool: `18.0 free: 18 pods of 1 GPU, 7 of 2, 2 of 4, 1 of 8; whole nodes free 1 of 2 possible;
 * stranded 4.0 (no CPU left 4.0)`.
 */
export function fitText(pool: PoolPlacement): string {
  const { placeablePods, wholeFreeNodes, possibleWholeFreeNodes } = pool;
  const parts: string[] = [];
  if (pool.freeGpus > 1e-6) {
    const pods = `${placeablePods[1]} pods of 1 GPU, ${placeablePods[2]} of 2, ${placeablePods[4]} of 4, ${placeablePods[8]} of 8`;
    parts.push(`${gpus(pool.freeGpus)} free: ${pods}`);
    if (possibleWholeFreeNodes > 0) {
      parts.push(`whole nodes free ${wholeFreeNodes} of ${possibleWholeFreeNodes} possible`);
    }
  } else {
    parts.push("no whole GPU free");
  }
  const stranded = Object.entries(pool.strandedGpus).filter(([, amount]) => amount > 1e-6);
  if (stranded.length > 0) {
    const sum = stranded.reduce((all, [, amount]) => all + amount, 0);
    const reasons = stranded.map(([reason, amount]) => `${reasonWords[reason] ?? reason} ${gpus(amount)}`);
    parts.push(`stranded ${gpus(sum)} (${reasons.join(", ")})`);
  }
  if (pool.sharedFreeGpus > 1e-6) parts.push(`${gpus(pool.sharedFreeGpus)} free in shared GPUs`);
  if (pool.partitionedFreeGpus > 1e-6) parts.push(`${gpus(pool.partitionedFreeGpus)} in instances and replicas`);
  return parts.join("; ");
}

const reasonWords: Readonly<Record<string, string>> = {
  constraint: "labels or taints",
  gpus: "too few together",
  cpu: "no CPU left",
  memory: "no memory left",
  cpu_and_memory: "no CPU and memory left",
};

const blockerWords: Readonly<Record<BlockedWork["blocker"], string>> = {
  topology: "no single domain of the level that it requires has enough",
  mig_geometry: "the GPUs are cut otherwise: repartition MIG",
  cpu: "CPU is short on the nodes with free GPUs",
  memory: "memory is short on the nodes with free GPUs",
  cpu_and_memory: "CPU and memory are short on the nodes with free GPUs",
  model: "the free GPUs are of models that it does not take",
  selector: "its node selector, affinity or the nodes' taints keep it off",
  spread: "the free GPUs are scattered over too many nodes",
};

function blockedLines(analysis: Analysis): readonly Line[] {
  const { work } = analysis.blocked;
  if (work.length === 0) return [];
  const lines = blockedTexts(analysis, shownBlocked).flatMap(({ name, text }) =>
    fold(`    ${plainText(name, 100)} ${text}`, "      "),
  );
  const more = work.length > shownBlocked ? [`    and ${work.length - shownBlocked} more: /api/v1/blocked`] : [];
  return ["  blocked although enough is free:", ...lines, ...more];
}

/**
 * Blocked work in words, the work that is blocked for longest first: its name, what it needs, what is free and what blocks it.
 */
export function blockedTexts(
  { blocked, snapshot }: Analysis,
  most: number,
): readonly { readonly name: string; readonly text: string }[] {
  const longest = [...blocked.work].sort((a, b) => a.since - b.since || b.gpus - a.gpus);
  return longest.slice(0, most).flatMap(({ gang: index, gpus: needed, freeGpus, blocker, since }) => {
    const gang = snapshot.queueing.gangs[index];
    if (gang === undefined) return [];
    const seconds = snapshot.at - since;
    const age = seconds < 60 ? "" : `, for ${duration(seconds)}`;
    const text = `needs ${gpus(needed)} GPUs and ${gpus(freeGpus)} are free, but nowhere together${age}: ${blockerWords[blocker]}`;
    return [{ name: `${gang.namespace}/${gang.name}`, text }];
  });
}
