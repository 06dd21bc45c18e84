// Needed for the goal `queues` (docs/performance.md).

import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { FreeQuotas } from "./freeQuotas.ts";
import type { SharedUnit } from "./units.ts";

/** An amount that a leaf holds beyond its own, or that waits in it. */
export interface FlowItem {
  /** Index into `SharedUnit.entities`. */
  readonly entity: number;
  /** Physical GPUs. */
  readonly gpus: number;
  /** Indices into `SharedUnit.nodes` where quotas count by domain; else into `SharedUnit.classes`. */
  readonly targets: readonly number[];
}

/** The facts by which every level of a unit is divided. Columns are parallel to the entities, in physical GPUs. */
export interface UnitFacts {
  readonly unit: SharedUnit;
  readonly items: readonly FlowItem[];
  /** What can be divided in each class after what was taken out beforehand. */
  readonly capacities: readonly number[];
  /** Free quotas, parallel to `SharedUnit.nodes`; `null` where quotas do not count by domain. */
  readonly quotas: FreeQuotas | null;
  /** The most that each queue can be given. */
  readonly demand: Float64Array;
  /** What each queue has without asking for it, and the least that it has once it is asked for. */
  readonly unasked: Float64Array;
  readonly least: Float64Array;
}

/** The same facts with what is found once for all levels. */
export interface LevelFacts extends UnitFacts {
  /** The most that can be given to a queue by asking, and whether that is less than what its work could take (1). */
  readonly most: Float64Array;
  readonly isBound: Uint8Array;
  /** By index of the quota: the most that can come to it. */
  readonly comes: Float64Array;
  /** Parallel to `SharedUnit.nodes`: its domain, as an index into `SharedUnit.domains`. */
  readonly domainOf: Int32Array;
}

/** Finds what all levels have in common. `alike`: what was found for the same work and quotas. */
export function levelFacts(facts: UnitFacts, alike: Pick<LevelFacts, "comes" | "domainOf"> | null = null): LevelFacts {
  const { unit, items, capacities, quotas, demand, unasked, least } = facts;
  const { most, isBound } = limitsOf(facts);
  const comes = alike?.comes ?? comesTo(quotas, items);
  const domainOf = alike?.domainOf ?? domainsOf(unit);
  // Every field is named, so that all facts have one shape.
  return { unit, items, capacities, quotas, demand, unasked, least, most, isBound, comes, domainOf };
}

function domainsOf({ nodes, domains }: SharedUnit): Int32Array {
  const domainOf = new Int32Array(nodes.length);
  for (let i = 0; i < nodes.length; i++) domainOf[i] = domains.indexOf(nodes[i]?.queue.domain ?? -1);
  return domainOf;
}

/** The rounding error by which sums of parts differ from the whole. */
export const rounding = gpuTolerance / 1000;

function limitsOf({ unit: { entities }, items, demand, unasked }: UnitFacts) {
  const most = new Float64Array(demand.length);
  for (let i = 0; i < most.length; i++) most[i] = Math.max(0, (demand[i] ?? 0) - (unasked[i] ?? 0));
  const comes = new Float64Array(entities.length);
  for (const { entity, gpus } of items) comes[entity] = (comes[entity] ?? 0) + gpus;
  for (let i = entities.length - 1; i >= 0; i--) {
    const parent = entities[i]?.parent ?? null;
    if (parent !== null) comes[parent] = (comes[parent] ?? 0) + Math.min(comes[i] ?? 0, most[i] ?? 0);
  }
  const isBound = new Uint8Array(entities.length);
  for (let i = 0; i < isBound.length; i++) if ((most[i] ?? 0) < (comes[i] ?? 0) - rounding) isBound[i] = 1;
  return { most, isBound };
}

function comesTo(quotas: FreeQuotas | null, items: readonly FlowItem[]): Float64Array {
  const parents = quotas?.parent ?? noParents;
  const comes = new Float64Array(parents.length);
  for (const { gpus, targets } of items) for (const target of targets) comes[target] = (comes[target] ?? 0) + gpus;
  for (let i = parents.length - 1; i >= 0; i--) {
    const parent = parents[i] ?? -1;
    if (parent !== -1) comes[parent] = (comes[parent] ?? 0) + (comes[i] ?? 0);
  }
  return comes;
}

const noParents = new Int32Array(0);
