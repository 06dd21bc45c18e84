import { addUpClaims, type Claims, type EntitledNode, quotaOf, usableOf } from "./claims.ts";
import { divideSurplus } from "./surplus.ts";
import type { LevelTrace, SureShare, SureStep, SurplusStep } from "./trace.ts";
import { gpuTolerance, sumOf, waterFill } from "./waterFill.ts";

/** Who writes down how a level was divided. */
export interface LevelRecorder {
  /** Whether the level of this parent (`null`: the top) is wanted. */
  wants(parent: EntitledNode | null): boolean;
  record(level: LevelTrace): void;
}

/** How to divide, beside the tree. */
export interface EntitleOptions {
  /** How much past use counts in the surplus (KAI's k); 0: not at all. */
  readonly kValue?: number;
  readonly recorder?: LevelRecorder;
}

/** What each node may have. */
export interface Entitlement {
  /** Physical GPUs, parallel to the nodes; those of an inner node are the sum of its children's. */
  readonly grants: Float64Array;
  readonly claims: Claims;
}

/**
 * Divides a capacity over a tree of queues by water-filling, level by level from the top:
 *
 * 1. quota that is not lent, as far as its owner's demand uses it; what is unused of it is withheld from everybody;
 * 2. guarantees, as far as demand uses them;
 * 3. the surplus, by priority, then weight.
 *
 * Steps 1 and 2 serve all or, where they do not fit, each at most the same part of its quota. Nobody gets more than it
 * demands, or its limit. Nodes stand behind their parents. O(n log n) per level; with history O(n^2) at worst.
 */
export function entitle(nodes: readonly EntitledNode[], capacity: number, options: EntitleOptions = {}): Entitlement {
  const claims = addUpClaims(nodes);
  const grants = new Float64Array(nodes.length);
  const context: Context = { nodes, claims, grants, kValue: options.kValue ?? 0, recorder: options.recorder ?? null };
  const usable = Math.max(0, usableOf(Math.max(0, capacity), quotaOf(claims, claims.top)));
  divide(context, { parent: null, group: claims.top, grant: Math.max(0, capacity), usable });
  nodes.forEach((node, i) => {
    const group = claims.children[i] ?? [];
    const grant = grants[i] ?? 0;
    if (group.length > 0) divide(context, { parent: node, group, grant, usable: grant });
  });
  return { grants, claims };
}

interface Context {
  readonly nodes: readonly EntitledNode[];
  readonly claims: Claims;
  readonly grants: Float64Array;
  readonly kValue: number;
  readonly recorder: LevelRecorder | null;
}

interface Level {
  readonly parent: EntitledNode | null;
  readonly group: readonly number[];
  readonly grant: number;
  /** Of the grant: what is not withheld. */
  readonly usable: number;
}

function divide({ nodes, claims, grants, kValue, recorder }: Context, { parent, group, grant, usable }: Level): void {
  const isRecorded = recorder?.wants(parent) === true;
  const pick = (column: Float64Array) => group.map((i) => column[i] ?? 0);
  const demands = pick(claims.demand);
  const kept = waterFill(usable, pick(claims.keptUsed), pick(claims.kept));
  const afterKept = Math.max(0, usable - sumOf(kept.shares));
  const lent = waterFill(afterKept, pick(claims.lendableUsed), pick(claims.lendable));
  const surplus = Math.max(0, afterKept - sumOf(lent.shares));

  const sure = group.map((_, n) => (kept.shares[n] ?? 0) + (lent.shares[n] ?? 0));
  const steps: SurplusStep[] = [];
  const { got, left } = divideSurplus(
    surplus,
    group.flatMap((i, n) => {
      const node = nodes[i];
      if (node === undefined) return [];
      const isLimited = (claims.demand[i] ?? 0) < (claims.wanted[i] ?? 0) - gpuTolerance;
      const given = sure[n] ?? 0;
      const room = Math.max(0, (demands[n] ?? 0) - given);
      return [{ node, sure: given, room, stop: isLimited ? ("limit" as const) : ("demand" as const) }];
    }),
    kValue,
    isRecorded ? (step) => steps.push(step) : null,
  );
  group.forEach((i, n) => {
    const demand = demands[n] ?? 0;
    const sum = (sure[n] ?? 0) + (got[n] ?? 0);
    // Whole demands stay whole: sums of parts differ from them by rounding.
    grants[i] = sum >= demand - gpuTolerance / 1000 ? demand : sum;
  });

  if (!isRecorded) return;
  const ids = group.map((i) => nodes[i]?.id ?? -1);
  recorder.record({
    parent: parent?.id ?? null,
    grant,
    withheld: grant - usable,
    kept: sureStep(ids, pick(claims.kept), pick(claims.keptUsed), kept),
    guarantees: sureStep(ids, pick(claims.lendable), pick(claims.lendableUsed), lent),
    surplus,
    steps,
    left,
    results: group.map((i, n) => ({ queue: ids[n] ?? -1, demand: demands[n] ?? 0, entitled: grants[i] ?? 0 })),
  });
}

function sureStep(
  ids: readonly number[],
  quotas: readonly number[],
  asked: readonly number[],
  { shares, level }: ReturnType<typeof waterFill>,
): SureStep {
  const all = ids.map(
    (queue, n): SureShare => ({ queue, quota: quotas[n] ?? 0, asked: asked[n] ?? 0, got: shares[n] ?? 0 }),
  );
  return { scale: Math.min(1, level), shares: all.filter(({ quota }) => quota > 0) };
}
