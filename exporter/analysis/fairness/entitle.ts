import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { type EntitledNode, quotaOf, usableOf } from "./claims.ts";
import { type LevelNetwork, markedIn } from "./levelNetwork.ts";
import { type Claim, type Contest, raise } from "./raise.ts";
import { divideSurplus, type SurplusClaim } from "./surplus.ts";
import { tiersOf } from "./tiers.ts";
import type { LevelTrace, SureShare, SureStep, SurplusStep } from "./trace.ts";
import { claimsOfUnit, headOf, type UnitClaims } from "./unitClaims.ts";
import { createUnitNetwork, type LevelCarriers, type PlacedGrant, type UnitNetwork } from "./unitNetwork.ts";
import { isUniform, type SharedUnit } from "./units.ts";
import { sumOf } from "./waterFill.ts";

/** Records how a level was divided. */
export interface LevelRecorder {
  /** Whether the level of this parent (`null`: the top) is to be recorded. */
  wants(parent: EntitledNode | null): boolean;
  record(level: LevelTrace): void;
}

/** How to divide, apart from the tree itself. */
export interface EntitleOptions {
  /** How much past use counts in the surplus (KAI's k); 0: it does not count. */
  readonly kValue?: number;
  readonly recorder?: LevelRecorder;
}

/** What each queue of a unit may have. Physical GPUs. */
export interface Entitlement {
  /** Parallel to the entities; the total of an inner one is the sum of its children's. */
  readonly totals: Float64Array;
  /** The node classes in which the leaves' totals are. */
  readonly placed: readonly PlacedGrant[];
  readonly claims: UnitClaims;
}

/**
 * Divides the GPUs of a unit over its trees of queues, level by level from the top:
 *
 * 1. what a queue holds within its guarantee is its own;
 * 2. guarantees, as far as demand uses them; where they do not fit, each gets at most the same part of its quota;
 * 3. the surplus, by priority, then weight, less what lending limits withhold.
 *
 * Nobody gets more than it demands, or its limit. Where several node classes or flavors bound who can have what, each level is
 * the weighted max-min vector of what can be had together. Then allocated GPUs count where they are allocated, and what waits
 * goes where its queue can take back its own quota, then to the earlier flavor. O(n log n) per level of a one-class unit.
 */
export function entitle(unit: SharedUnit, options: EntitleOptions = {}): Entitlement {
  const claims = claimsOfUnit(unit);
  const totals = new Float64Array(unit.entities.length);
  const network = isUniform(unit) ? null : createUnitNetwork(unit, claims);
  const { kValue = 0, recorder = null } = options;
  const context: Context = { unit, claims, totals, network, kValue, recorder };
  let level: readonly Group[] = [topGroup(unit, claims)];
  const settled = new Float64Array(totals.length);
  const asked = new Uint8Array(totals.length);
  while (level.length > 0) {
    for (const { members } of level) for (const entity of members) asked[entity] = 1;
    divideLevel(context, level, { settled, asked });
    const next: Group[] = [];
    for (const { members } of level) {
      for (const entity of members) {
        const below = unit.entities[entity]?.children ?? [];
        const grant = totals[entity] ?? 0;
        if (below.length === 0) {
          settled[entity] = grant;
          continue;
        }
        asked[entity] = 0;
        next.push({ parent: entity, members: below, grant, usable: grant });
      }
    }
    level = next;
  }
  return { totals, placed: network === null ? uniformly(unit, totals) : network.place(settled), claims };
}

interface Context {
  readonly unit: SharedUnit;
  readonly claims: UnitClaims;
  readonly totals: Float64Array;
  /** `null` where one number bounds everybody. */
  readonly network: UnitNetwork | null;
  readonly kValue: number;
  readonly recorder: LevelRecorder | null;
}

/** Queues under one parent, and what there is for them. */
interface Group {
  readonly parent: number | null;
  readonly members: readonly number[];
  readonly grant: number;
  /** The part of the grant that is not withheld. */
  readonly usable: number;
}

function topGroup({ entities, classes, nodes, domains }: SharedUnit, { ofNodes }: UnitClaims): Group {
  const members = tops(entities);
  const roots = tops(nodes);
  let [grant, usable] = [0, 0];
  for (const domain of domains) {
    const top = roots.filter((root) => nodes[root]?.queue.domain === domain);
    const capacity = classes.reduce((sum, one) => sum + (one.domain === domain ? one.capacity : 0), 0);
    grant += capacity;
    usable += Math.max(0, usableOf(capacity, quotaOf(ofNodes, top)));
  }
  return { parent: null, members, grant, usable };
}

/** Indices of those that have no parent. */
function tops(list: readonly { readonly parent: number | null }[]): readonly number[] {
  const found: number[] = [];
  for (let i = 0; i < list.length; i++) if (list[i]?.parent === null) found.push(i);
  return found;
}

/** The placed totals of a unit with only one class. */
function uniformly({ entities, nodes }: SharedUnit, totals: Float64Array): readonly PlacedGrant[] {
  return entities.flatMap(({ nodes: [node] }, i): PlacedGrant[] => {
    const gpus = totals[i] ?? 0;
    if (node === undefined || gpus <= 0 || nodes[node]?.queue.children.length !== 0) return [];
    return [{ node, nodeClass: 0, gpus }];
  });
}

/** By entity: what leaves of the levels above have, and whether it is asked for (1): those leaves, and the queues of the level. */
interface Asked {
  readonly settled: Float64Array;
  readonly asked: Uint8Array;
}

function divideLevel(context: Context, groups: readonly Group[], { settled, asked }: Asked): void {
  const { claims } = context;
  const got = settled.slice();
  const bounded = groups.flatMap(({ members }) => members);
  const grants = new Map(groups.flatMap(({ parent, grant }) => (parent === null ? [] : [[parent, grant] as const])));
  const network = context.network?.atLevel(asked, grants) ?? null;
  const sure = network?.sure(markedIn(got.length, bounded)) ?? null;
  const scales = raiseGuarantees(claims, sure, groups, got);
  const sureOf = got.slice();
  const surpluses = groups.map(({ members, usable }) => Math.max(0, usable - sumIn(sureOf, members)));
  const steps = groups.map((): SurplusStep[] => []);
  const shared = groups.map(({ members, parent }, n) => {
    const wants = context.recorder?.wants(headOf(claims, parent)) === true;
    return divideSurplus(
      surpluses[n] ?? 0,
      members.map((entity) => surplusClaim(entity, claims, sureOf)),
      context.kValue,
      wants ? (step) => steps[n]?.push(step) : null,
    );
  });
  const ideal = got.slice();
  for (const [n, { members }] of groups.entries())
    for (const [k, entity] of members.entries()) ideal[entity] = (sureOf[entity] ?? 0) + (shared[n]?.got[k] ?? 0);
  if (network === null || network.usual.carry(ideal) === null) {
    for (const entity of bounded) got[entity] = ideal[entity] ?? 0;
  } else raiseByTier(claims, network, groups, { surpluses, sureOf, got });
  for (const entity of bounded) context.totals[entity] = whole(got[entity] ?? 0, claims.demand[entity] ?? 0);
  for (const [n, group] of groups.entries())
    recordLevel(context, group, {
      scale: scales[n] ?? 1,
      sureOf,
      surplus: surpluses[n] ?? 0,
      steps: steps[n] ?? [],
    });
}

/** Raises what each queue is sure of. Returns, by group, the part of their quotas that those get who want more of it. */
function raiseGuarantees(
  claims: UnitClaims,
  network: LevelNetwork | null,
  groups: readonly Group[],
  got: Float64Array,
): readonly number[] {
  // The network leaves everybody its own; if one number bounds all of them, and it is smaller, each keeps the same part
  // of its own.
  const bounded = groups.flatMap(({ members }) => members);
  for (const entity of bounded) got[entity] = network === null ? 0 : (claims.leavesOwn[entity] ?? 0);
  const ownOf = (entity: number): number => (network === null ? 0 : (claims.own[entity] ?? 0));
  const raiseTo = (most: Float64Array, weights: Float64Array, amountOf: (group: Group) => number) =>
    raise(
      network,
      groups.map((group): Contest => {
        const below = group.members.map((entity) => claimUpTo(entity, most, weights, got));
        return { amount: amountOf(group), claims: below };
      }),
      got,
    );
  const owns = raiseTo(claims.own, claims.own, ({ usable }) => usable);
  // What is its own without being in a guarantee of its domain stays its own, and is not divided again.
  const apart = ({ members }: Group): number =>
    members.reduce((sum, entity) => sum + Math.max(0, ownOf(entity) - (got[entity] ?? 0)), 0);
  const levels = raiseTo(claims.sure, claims.quota, (group) => group.usable - apart(group));
  for (const entity of bounded) got[entity] = Math.max(got[entity] ?? 0, ownOf(entity));
  return groups.map((_, n) => Math.min(1, owns[n] ?? 1, levels[n] ?? 1));
}

const sumIn = (column: Float64Array, entities: readonly number[]): number =>
  entities.reduce((sum, entity) => sum + (column[entity] ?? 0), 0);

/** Keeps whole demands whole: sums of parts differ from them by rounding. */
const whole = (gpus: number, demand: number): number => (gpus >= demand - gpuTolerance / 1000 ? demand : gpus);

function claimUpTo(entity: number, most: Float64Array, weights: Float64Array, got: Float64Array): Claim {
  const sure = got[entity] ?? 0;
  const headroom = Math.max(0, (most[entity] ?? 0) - sure);
  return { entity, sure, headroom, weight: weights[entity] ?? 0, base: sure };
}

function surplusClaim(entity: number, claims: UnitClaims, sureOf: Float64Array): SurplusClaim {
  const node = headOf(claims, entity);
  if (node === null) throw new Error(`no record of queue ${entity}`);
  const sure = sureOf[entity] ?? 0;
  const demand = claims.demand[entity] ?? 0;
  const wanted = claims.wanted[entity] ?? demand;
  return {
    node,
    sure,
    headroom: Math.max(0, demand - sure),
    stop: demand < wanted - gpuTolerance ? "limit" : "demand",
  };
}

/** What groups (parallel) have above the guarantees of their queues (entities), and what every queue has so far. */
interface Raised {
  readonly surpluses: readonly number[];
  readonly sureOf: Float64Array;
  readonly got: Float64Array;
}

/** Divides the surplus if not all can have their share by weight: by priority, with those of weight 0 at the end of each. */
function raiseByTier(
  claims: UnitClaims,
  network: LevelCarriers,
  groups: readonly Group[],
  { surpluses, sureOf, got }: Raised,
): void {
  const tiers = groups.map(({ members }) => tiersOf(members, claims));
  const rounds = Math.max(0, ...tiers.map((list) => list.length));
  for (let round = 0; round < rounds; round++) {
    const contests = groups.map(({ members }, n): Contest => {
      const amount = (surpluses[n] ?? 0) + sumIn(sureOf, members);
      const others = sumIn(got, members);
      const tier = tiers[n]?.[round] ?? [];
      const here = tier.reduce((sum, { entity }) => sum + (got[entity] ?? 0), 0);
      return {
        amount: amount - (others - here),
        claims: tier.map(({ entity, weight }): Claim => {
          const sure = sureOf[entity] ?? 0;
          const head = headOf(claims, entity)?.queue;
          // Without a weight there is no share that a guarantee could be the minimum for.
          const isFloor = head?.guaranteeIsFloor === true && head.weight > 0;
          const headroom = Math.max(0, (claims.demand[entity] ?? 0) - sure);
          return { entity, sure, headroom, weight, base: isFloor ? sure : 0 };
        }),
      };
    });
    raise(network.usual, contests, got);
  }
}

interface Divided {
  readonly scale: number;
  readonly sureOf: Float64Array;
  readonly surplus: number;
  readonly steps: readonly SurplusStep[];
}

function recordLevel(
  { claims, totals, recorder }: Context,
  { parent, members, grant, usable }: Group,
  { scale, sureOf, surplus, steps }: Divided,
): void {
  if (recorder?.wants(headOf(claims, parent)) !== true) return;
  const idOf = (entity: number) => headOf(claims, entity)?.index ?? -1;
  const shares = members.map((entity): SureShare => {
    const [quota, asked] = [claims.quota[entity] ?? 0, claims.sure[entity] ?? 0];
    return { queue: idOf(entity), quota, asked, got: sureOf[entity] ?? 0 };
  });
  const guarantees: SureStep = { scale, shares: shares.filter(({ quota }) => quota > 0) };
  recorder.record({
    parent: headOf(claims, parent)?.index ?? null,
    grant,
    withheld: grant - usable,
    guarantees,
    surplus,
    steps,
    left: Math.max(0, usable - sumOf(members.map((entity) => totals[entity] ?? 0))),
    results: members.map((entity) => ({
      queue: idOf(entity),
      demand: claims.demand[entity] ?? 0,
      entitled: totals[entity] ?? 0,
    })),
  });
}
