import { once } from "../../kernel/once.ts";
import type { StrandedReason } from "../../model/fragmentation.ts";
import { fragmentationCauses } from "../../model/fragmentation.ts";
import { type AccessCache, accessOf } from "./access.ts";
import { fitsOutcome, type OutcomeCode, outcomeOf, outcomes, unusableGpus } from "./caseTable.ts";
import type { JudgedShape } from "./countShapes.ts";
import type { RowChanges, TableRows } from "./tableRows.ts";

/** The outcome for one shape on each node. */
interface Column {
  /** `OutcomeCode` of each row. */
  codes: Uint8Array;
  /** Free GPUs of each row that a pod of the shape could not use: multiples of `grain`. */
  unusable: Float64Array;
  /** The same added up: one amount for each pool and outcome. */
  sums: Float64Array;
  isUsed: boolean;
}

/**
 * The case table of every node and shape. It does not depend on how popular a shape is, so that from one moment to the next
 * only changed nodes and new shapes are judged.
 */
export interface FragmentationTable {
  readonly columns: Map<string, Column>;
  /** The rows that the columns belong to; `null` unless the last moment was completed. */
  last: TableRows | null;
}

/** A table in which nothing has been judged yet. */
export const createFragmentationTable = (): FragmentationTable => ({ columns: new Map(), last: null });

/**
 * The unit of all amounts, in physical GPUs. Up to 500,000 GPUs, multiples of it add up without any rounding: a sum from which
 * one row was subtracted and to which another was added equals the sum over all rows, in any order.
 */
const grain = 2 ** -34;

const causes = fragmentationCauses.length;
/** Number of outcomes of one pool in the sums of a shape. */
const outcomeCount = causes + 1;

/** The rows of the last moment, as far as their judgements are still valid; `null` if they are not. */
export function lastRows({ last }: FragmentationTable, { numbering }: AccessCache): TableRows | null {
  return last !== null && last.numbering === numbering ? last : null;
}

/** Judges every shape in every free capacity; `changes` are those since `lastRows`. */
export function judgeShapes(
  table: FragmentationTable,
  rows: TableRows,
  changes: RowChanges,
  shapes: readonly JudgedShape[],
  access: AccessCache,
): void {
  const { columns } = table;
  const last = lastRows(table, access);
  table.last = null;
  if (last === null) columns.clear();
  for (const column of columns.values()) column.isUsed = false;
  const all = once(() => [...rows.freeCapacities.keys()]);
  for (const shape of shapes) {
    const known = columns.get(shape.key);
    if (known?.isUsed === true) continue;
    const column = known ?? newColumn(rows);
    column.isUsed = true;
    columns.set(shape.key, column);
    if (known !== undefined && last !== null) follow(known, last, rows, changes);
    const isLetIn = accessOf(access, shape.access);
    const unjudged = known === undefined ? all() : changes.fresh;
    for (const row of unjudged) judgeRow(column, row, rows, shape, isLetIn);
  }
  dropUnused(columns);
  table.last = hasEmptyPools(rows) ? null : rows;
}

function dropUnused(columns: FragmentationTable["columns"]): void {
  for (const [key, { isUsed }] of columns) if (!isUsed) columns.delete(key);
}

/** Whether some pool has no row any more. Pools are numbered anew then, so that those that no longer exist are forgotten. */
function hasEmptyPools({ pools, names }: TableRows): boolean {
  const has = new Uint8Array(names.length);
  for (const pool of pools) has[pool] = 1;
  return has.includes(0);
}

const newColumn = ({ freeCapacities, names }: TableRows): Column => ({
  codes: new Uint8Array(freeCapacities.length),
  unusable: new Float64Array(freeCapacities.length),
  sums: new Float64Array(names.length * outcomeCount),
  isUsed: false,
});

/** Removes old rows from a column, and moves the rest to their present rows. Returns how many cells it touched. */
function follow(column: Column, last: TableRows, rows: TableRows, { before, isMoved, gone }: RowChanges): void {
  const { codes, unusable, sums } = column;
  for (const row of gone) addCell(sums, last.pools[row] ?? 0, codes[row] ?? 0, -(unusable[row] ?? 0));
  if (last.names.length !== rows.names.length) {
    column.sums = new Float64Array(rows.names.length * outcomeCount);
    column.sums.set(sums);
  }
  if (!isMoved) return;
  column.codes = new Uint8Array(before.length);
  column.unusable = new Float64Array(before.length);
  for (let row = 0; row < before.length; row++) {
    const from = before[row] ?? -1;
    if (from < 0) continue;
    column.codes[row] = codes[from] ?? 0;
    column.unusable[row] = unusable[from] ?? 0;
  }
}

function addCell(sums: Float64Array, pool: number, code: number, unusable: number): void {
  const at = pool * outcomeCount + code;
  sums[at] = (sums[at] ?? 0) + unusable;
}

function judgeRow(
  { codes, unusable, sums }: Column,
  row: number,
  { freeCapacities, classes, pools }: TableRows,
  { demand }: JudgedShape,
  isLetIn: (nodeClass: number) => boolean,
): void {
  const freeCapacity = freeCapacities[row]?.now ?? null;
  // Where nothing is free, the outcome does not matter.
  const code = freeCapacity === null ? 0 : outcomeOf(freeCapacity, demand, isLetIn(classes[row] ?? -1));
  const gpus = freeCapacity === null ? 0 : Math.round(unusableGpus(freeCapacity, demand, code) / grain) * grain;
  codes[row] = code;
  unusable[row] = gpus;
  addCell(sums, pools[row] ?? 0, code, gpus);
}

/** Expected free GPUs that a typical pod could not use: for each pool, one amount for each of `fragmentationCauses`. */
export function sumByPool(
  { columns }: FragmentationTable,
  { names }: TableRows,
  shapes: readonly JudgedShape[],
): Float64Array {
  const sums = new Float64Array(names.length * causes);
  for (const { key, weight } of shapes) {
    const ofShape = columns.get(key)?.sums;
    if (ofShape === undefined) continue;
    for (let pool = 0; pool < names.length; pool++) addShape(sums, pool, ofShape, weight);
  }
  return sums;
}

/** Adds a shape to the sums. GPUs that are left over where the shape fits count as a lack of GPUs. */
function addShape(sums: Float64Array, pool: number, ofShape: Float64Array, weight: number): void {
  for (let code = 0; code < outcomeCount; code++) {
    const unusable = ofShape[pool * outcomeCount + code] ?? 0;
    const at = pool * causes + (code === fitsOutcome ? outcomes.lackGpu : code);
    sums[at] = (sums[at] ?? 0) + weight * unusable;
  }
}

/** Returns why no typical pod can use the fully free GPUs of a row; `null`: one can, or no typical pod asks for GPUs. */
export function createStranding(
  { columns }: FragmentationTable,
  shapes: readonly JudgedShape[],
): (row: number) => StrandedReason | null {
  const asked = shapes.flatMap(({ key, demand }) => {
    const codes = columns.get(key)?.codes;
    return demand === null || codes === undefined ? [] : [{ codes, isForGpus: demand.physicalGpus > 0 }];
  });
  return (row) => {
    let seen = 0;
    for (const { codes, isForGpus } of asked) {
      const code = codes[row] ?? outcomes.noAccess;
      if (isForGpus && code === fitsOutcome) return null;
      // A shape that asks for replicas or MIG instances has no use for a whole GPU.
      seen |= bit(isForGpus || code === outcomes.noAccess ? code : outcomes.lackGpu);
    }
    return seen === 0 ? null : reasonOf(seen);
  };
}

const bit = (code: OutcomeCode): number => 1 << code;

/** The reason for a set of outcomes, which are given as bits. */
function reasonOf(seen: number): StrandedReason {
  const has = (code: OutcomeCode): boolean => (seen & bit(code)) !== 0;
  if (seen === bit(outcomes.noAccess)) return "constraint";
  const [lacksCpuAlone, lacksMemoryAlone] = [has(outcomes.lackCpu), has(outcomes.lackMemory)];
  if (!lacksCpuAlone && !lacksMemoryAlone && !has(outcomes.lackCpuAndMemory)) return "gpus";
  // What is missing for all shapes for which enough GPUs are free, whatever else some of them lack.
  if (lacksCpuAlone && !lacksMemoryAlone) return "cpu";
  return lacksMemoryAlone && !lacksCpuAlone ? "memory" : "cpu_and_memory";
}
