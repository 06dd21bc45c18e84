import { addUpClaims, type Claims, type EntitledNode, sumIn } from "./claims.ts";
import type { Entity, SharedUnit } from "./units.ts";

/**
 * What each queue can claim over all domains in which it has a record; columns parallel to `SharedUnit.entities`. Physical
 * GPUs.
 */
export interface UnitClaims {
  readonly unit: SharedUnit;
  readonly ofNodes: Claims;
  /** The node that represents each queue where siblings are compared: its weight, its priority, and its name in traces. */
  readonly heads: readonly EntitledNode[];
  /** What its subtree asks for before its own limit applies. */
  readonly wanted: Float64Array;
  /** The most that it can be given. */
  readonly demand: Float64Array;
  /** The sum of its guarantees. */
  readonly quota: Float64Array;
  /** The part of its guarantees that its demand can use. */
  readonly sure: Float64Array;
  /** The part of what it is sure of that it already holds. */
  readonly own: Float64Array;
  /** The part of its own that belongs to its children, or for a leaf all of it. The rest may go to any of them. */
  readonly ownBelow: Float64Array;
  /** The part of its own that belongs to its leaves. */
  readonly leavesOwn: Float64Array;
}

/**
 * Adds up the claims of each queue. Work that may go to several domains is demand in each of them, but counts only once in all.
 */
export function claimsOfUnit(unit: SharedUnit): UnitClaims {
  const { nodes, entities, waiting } = unit;
  const ofNodes = addUpClaims(nodes);
  const column = () => new Float64Array(entities.length);
  const [wanted, demand, quota, sure] = [column(), column(), column(), column()];
  const [own, ownBelow, leavesOwn] = [column(), column(), column()];
  const heads: EntitledNode[] = [];
  for (const { entity, gpus } of waiting) wanted[entity] = (wanted[entity] ?? 0) + gpus;
  for (let i = entities.length - 1; i >= 0; i--) {
    const entity = entities[i];
    if (entity === undefined) continue;
    const { nodes: records, children } = entity;
    if (records.length === 1 && children.length === 0) wanted[i] = sumIn(ofNodes.wanted, records);
    else if (children.length === 0)
      wanted[i] = (wanted[i] ?? 0) + records.reduce((total, node) => total + (nodes[node]?.allocated ?? 0), 0);
    else wanted[i] = sumIn(demand, children);
    demand[i] = Math.min(sumIn(ofNodes.demand, records), wanted[i] ?? 0);
    quota[i] = sumIn(ofNodes.quota, records);
    sure[i] = Math.min(sumIn(ofNodes.sure, records), demand[i] ?? 0);
    own[i] = Math.min(sumIn(ofNodes.own, records), sure[i] ?? 0);
    ownBelow[i] = Math.min(own[i] ?? 0, ofChildren(entity, own, i));
    leavesOwn[i] = ofChildren(entity, leavesOwn, i, own);
    const [head] = entity.nodes;
    const node = head === undefined ? undefined : nodes[head];
    if (node !== undefined) heads[i] = node;
  }
  return { unit, ofNodes, heads, wanted, demand, quota, sure, own, ownBelow, leavesOwn };
}

/** The node that represents a queue; `null` for what is above the top. */
export const headOf = ({ heads }: Pick<UnitClaims, "heads">, entity: number | null): EntitledNode | null =>
  entity === null ? null : (heads[entity] ?? null);

/** The sum over its children; for a leaf its own amount. */
function ofChildren({ children }: Entity, of: Float64Array, index: number, ofLeaf = of): number {
  if (children.length === 0) return ofLeaf[index] ?? 0;
  return sumIn(of, children);
}
