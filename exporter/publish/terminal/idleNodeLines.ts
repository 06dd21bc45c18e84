import type { Analysis } from "../../analysis/analysis.ts";
import { type IdleNodeGroup, idleNodeGroups } from "../../analysis/sums/idleNodeGroups.ts";
import { type IdleKind, idleKinds } from "../../model/idleKinds.ts";
import { duration, plainText } from "./columns.ts";
import { money } from "./costText.ts";
import { fold, type Line } from "./layout.ts";

const shownPools = 3;

/** Idle nodes of one kind, without warm ones, and the text about them. */
interface IdleSummary {
  readonly kind: IdleKind;
  readonly nodes: number;
  /** The text about them: `2 nodes run for nobody (pool-a 2), for up to 3 h, $ 110 per hour`. */
  readonly text: string;
  readonly nextStep: string;
}

/** Summaries of idle nodes by kind; a kind without idle nodes has none. */
export function idleSummaries(analysis: Analysis): readonly IdleSummary[] {
  const groups = idleNodeGroups(analysis).filter(({ nodes, isWarmPool }) => nodes > 0 && !isWarmPool);
  return idleKinds.flatMap((kind) => {
    const own = groups.filter((group) => group.kind === kind);
    return own.length === 0 ? [] : [summaryOf(kind, own, analysis)];
  });
}

/** Lines about nodes that serve nobody or nothing, and what to do about them; none if there are no such nodes. */
export function idleNodeLines(analysis: Analysis): readonly Line[] {
  const summaries = idleSummaries(analysis);
  if (summaries.length === 0) return [];
  const warm = idleNodeGroups(analysis).reduce((sum, { isWarmPool, nodes }) => sum + (isWarmPool ? nodes : 0), 0);
  return [
    "IDLE NODES",
    ...summaries.flatMap(({ text, nextStep }) => [
      ...fold(`  ${text}`, "    "),
      ...fold(`    -> ${nextStep}`, "       "),
    ]),
    ...(warm > 0 ? [`  beside ${counted(warm)} kept warm on purpose`] : []),
  ];
}

function summaryOf(kind: IdleKind, groups: readonly IdleNodeGroup[], analysis: Analysis): IdleSummary {
  const nodes = groups.reduce((sum, group) => sum + group.nodes, 0);
  const longest = Math.max(...groups.map(({ longestSeconds }) => longestSeconds ?? 0));
  const streak = longest < 60 ? "" : `, for up to ${duration(longest)}`;
  const what =
    kind === "unallocated" ? `${nodes === 1 ? "runs" : "run"} for nobody` : "allocated, and nothing there works";
  const text = `${counted(nodes)} ${what} (${poolsText(groups)})${streak}${costText(groups)}`;
  return {
    kind,
    nodes,
    text,
    nextStep: kind === "unallocated" ? nextForUnallocated(groups, analysis) : nextForAllocated,
  };
}

function poolsText(groups: readonly IdleNodeGroup[]): string {
  const byPool = new Map<string, number>();
  for (const { nodePool, pool, nodes } of groups) {
    const name = nodePool === "unknown" ? pool : nodePool;
    byPool.set(name, (byPool.get(name) ?? 0) + nodes);
  }
  const largest = [...byPool].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  const shown = largest.slice(0, shownPools).map(([name, count]) => `${plainText(name, 30)} ${count}`);
  const hidden = largest.length - shown.length;
  return [...shown, ...(hidden > 0 ? [`${hidden} more pools`] : [])].join(", ");
}

function costText(groups: readonly IdleNodeGroup[]): string {
  const sums = new Map<string, number>();
  for (const { costPerHour } of groups) {
    for (const [currency, cost] of costPerHour) sums.set(currency, (sums.get(currency) ?? 0) + cost);
  }
  const texts = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([currency, cost]) => money(cost, currency));
  if (texts.length === 0) return "";
  const unpriced = groups.reduce((sum, group) => sum + group.unpricedNodes, 0);
  return `, ${texts.join(" and ")} per hour${unpriced > 0 ? ` (${unpriced} unpriced)` : ""}`;
}

/** The next step for unallocated nodes: it names the setting that keeps a pool from shrinking by itself, where one does. */
function nextForUnallocated(groups: readonly IdleNodeGroup[], { snapshot }: Analysis): string {
  const names = new Set(groups.map(({ nodePool }) => nodePool));
  const pools = snapshot.nodePools.filter(({ name }) => names.has(name));
  // A pool without a known object, or with a fixed number of nodes, has no policy.
  const never = pools.find((pool) => pool.consolidationPolicy !== null && pool.consolidateAfterSeconds === null);
  if (never !== undefined) {
    return `Karpenter never consolidates NodePool ${plainText(never.name, 60)}: set spec.disruption.consolidateAfter, or its replicas lower`;
  }
  const least = pools.find(({ minNodes, nodes }) => minNodes !== null && minNodes > 0 && nodes <= minNodes);
  if (least !== undefined) {
    return `node pool ${plainText(least.name, 60)} has its smallest size of ${least.minNodes}: lower it`;
  }
  return "scale their node pools in, or label nodes that are kept ready on purpose (idle.warmPools)";
}

const nextForAllocated = "ask who holds them: fairlead explain node NAME; /nodes?idle=allocated lists them";

const counted = (nodes: number): string => `${nodes} node${nodes === 1 ? "" : "s"}`;
