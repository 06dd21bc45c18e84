import type { FreeCapacities, PoolFreeCapacity } from "../freeCapacity/freeCapacities.ts";
import type { FreeCapacity } from "../freeCapacity/nodeFreeCapacity.ts";
import { type AccessCache, classOf } from "./access.ts";

/** The free capacity of a moment, with a row for each node and pool. */
export interface TableRows {
  readonly freeCapacities: readonly PoolFreeCapacity[];
  /** For each row: the class of its node. */
  readonly classes: Int32Array;
  /** For each row: its pool, as an index of `names`. */
  readonly pools: Int32Array;
  readonly names: readonly string[];
  /** The numbering to which the classes belong. */
  readonly numbering: number;
}

/** How the rows of a moment follow from those of the moment before. */
export interface RowChanges {
  /** For each row: the previous row with the same content for its place; -1 if there is none. */
  readonly before: Int32Array;
  /** Whether some row has moved, or the number of rows has changed. */
  readonly isMoved: boolean;
  /** Rows that differ from all rows before. */
  readonly fresh: readonly number[];
  /** Rows of the moment before that no row equals any more. */
  readonly gone: readonly number[];
}

const noRows = { freeCapacities: [], classes: new Int32Array(), pools: new Int32Array() } as const;

/**
 * Makes a row for each node and pool, with or without rows for the pools in `more`. Pools are numbered as in `last`; those that
 * it does not have come after them.
 */
export function tableRows(
  { byNode }: FreeCapacities,
  more: readonly string[],
  access: AccessCache,
  last: TableRows | null,
): { readonly rows: TableRows; readonly changes: RowChanges } {
  const freeCapacities = byNode.flat();
  const numbers = new Map(last?.names.map((name, number) => [name, number] as const));
  const numberOf = (pool: string): number => {
    const number = numbers.get(pool) ?? numbers.size;
    if (number === numbers.size) numbers.set(pool, number);
    return number;
  };
  const classes = new Int32Array(freeCapacities.length);
  const pools = new Int32Array(freeCapacities.length);
  const before = new Int32Array(freeCapacities.length).fill(-1);
  const fresh: number[] = [];
  const gone: number[] = [];
  const { freeCapacities: oldFreeCapacities, classes: oldClasses, pools: oldPools } = last ?? noRows;
  let old = 0;
  let isMoved = freeCapacities.length !== oldFreeCapacities.length;
  let row = -1;
  for (const freeCapacity of freeCapacities) {
    row += 1;
    while (isBefore(oldFreeCapacities[old], freeCapacity)) gone.push(old++);
    const isKept = oldFreeCapacities[old] === freeCapacity;
    classes[row] = isKept ? (oldClasses[old] ?? 0) : classOf(access, freeCapacity.node);
    pools[row] = isKept ? (oldPools[old] ?? 0) : numberOf(freeCapacity.pool);
    if (isKept || (oldClasses[old] === classes[row] && isSameRow(oldFreeCapacities[old], freeCapacity))) {
      if (old !== row) isMoved = true;
      before[row] = old++;
    } else fresh.push(row);
  }
  for (; old < oldFreeCapacities.length; old++) gone.push(old);
  for (const pool of more) numberOf(pool);
  const rows = { freeCapacities, classes, pools, names: [...numbers.keys()], numbering: access.numbering };
  return { rows, changes: { before, isMoved, fresh, gone } };
}

/** Whether one row comes before another: nodes are ordered by name, and so are the pools of a node. */
function isBefore(one: PoolFreeCapacity | undefined, other: PoolFreeCapacity): boolean {
  if (one === undefined || one === other) return false;
  return one.node.name === other.node.name ? one.pool < other.pool : one.node.name < other.node.name;
}

function isSameRow(one: PoolFreeCapacity | undefined, other: PoolFreeCapacity): boolean {
  if (one === undefined || one.node.name !== other.node.name || one.pool !== other.pool) return false;
  return one.now === null || other.now === null ? one.now === other.now : isSameFreeCapacity(one.now, other.now);
}

function isSameFreeCapacity(one: FreeCapacity, other: FreeCapacity): boolean {
  return (
    one.gpus === other.gpus &&
    one.cpuMilli === other.cpuMilli &&
    one.memoryBytes === other.memoryBytes &&
    one.physicalGpus.length === other.physicalGpus.length &&
    one.physicalGpus.every((free, i) => free === other.physicalGpus[i]) &&
    one.slots.size === other.slots.size &&
    [...one.slots].every(([key, { count, gpus }]) => {
      const slots = other.slots.get(key);
      return slots !== undefined && slots.count === count && slots.gpus === gpus;
    })
  );
}

/** The part of the rows that belongs to one pool. */
export interface PoolRows {
  /** Indices of the rows. */
  readonly rows: readonly number[];
  /** Parallel to `rows`. */
  readonly freeCapacities: readonly PoolFreeCapacity[];
}

/** The rows of each pool, in the order in which pools are numbered. */
export function rowsByPool({ freeCapacities, pools, names }: TableRows): readonly PoolRows[] {
  const groups = names.map((): { rows: number[]; freeCapacities: PoolFreeCapacity[] } => ({
    rows: [],
    freeCapacities: [],
  }));
  let row = -1;
  for (const freeCapacity of freeCapacities) {
    row += 1;
    const group = groups[pools[row] ?? 0];
    group?.rows.push(row);
    group?.freeCapacities.push(freeCapacity);
  }
  return groups;
}
