import type { EndedShape } from "../../model/podShape.ts";
import type { EndedOnDay } from "../shapeAccount.ts";
import { shapeIn, shapeText } from "../shapeText.ts";
import { secondsPerDay } from "./schema.ts";

/** Ended pods of one day and shape. */
export interface PackedShape {
  /** Days since the epoch. */
  readonly day: number;
  /** As `shapeText` writes it. */
  readonly shape: string;
  readonly pods: number;
}

/** The most shapes of one entry, also when it was merged from several; the rarest beyond this are left out. */
const maxShapesPerEntry = 4000;

/** Packs the pods that ended by `at`, seconds since the epoch. */
export function packShapes(endedPods: readonly EndedShape[], at: number): readonly PackedShape[] {
  const day = Math.floor(Math.max(0, at) / secondsPerDay);
  const packed = endedPods.flatMap((ended) => {
    const shape = shapeText(ended);
    return shape === null ? [] : [{ day, shape, pods: ended.pods }];
  });
  return mostCommon(packed);
}

/** Merges two lists; pods of the same day and shape become one row. */
export function mergeShapes(earlier: readonly PackedShape[], later: readonly PackedShape[]): readonly PackedShape[] {
  if (later.length === 0) return earlier;
  const sums = new Map<string, PackedShape>();
  for (const row of [...earlier, ...later]) {
    const key = `${row.day} ${row.shape}`;
    sums.set(key, { ...row, pods: row.pods + (sums.get(key)?.pods ?? 0) });
  }
  return mostCommon([...sums.values()]);
}

function mostCommon(rows: readonly PackedShape[]): readonly PackedShape[] {
  if (rows.length <= maxShapesPerEntry) return rows;
  return rows.toSorted((a, b) => b.pods - a.pods).slice(0, maxShapesPerEntry);
}

/** Reads the rows of a file; those that cannot be read are left out. */
export function endedShapesIn(rows: readonly PackedShape[]): readonly EndedOnDay[] {
  return rows.flatMap(({ day, shape, pods }) => {
    const found = shapeIn(shape);
    return found === null ? [] : [{ ...found, day, pods }];
  });
}
