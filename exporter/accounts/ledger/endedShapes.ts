import type { DatabaseSync } from "node:sqlite";
import type { EndedShape } from "../../model/podShape.ts";
import type { EndedOnDay } from "../shapeAccount.ts";
import { shapeIn, shapeText } from "../shapeText.ts";
import { createDimensionIds } from "./dimensionIds.ts";
import type { PackedEntry } from "./packedEntry.ts";
import { secondsPerDay } from "./schema.ts";
import { numberIn, numberOrNullIn, textIn } from "./sqliteRow.ts";
import { addRowSql } from "./tables.ts";

/** Number of pods of one shape that ended on one day. */
export interface PackedShape {
  /** Days since the epoch. */
  readonly day: number;
  /** The shape as `shapeText` writes it. */
  readonly shape: string;
  readonly pods: number;
}

/** The most shapes of one entry, even if it was merged from several; the rarest shapes beyond this are left out. */
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

/** The most shapes of one day. Pods of other shapes that end on it are not kept, so that no user's pods can fill the disk. */
const maxShapesPerDay = 4000;

/** The number of days that are read: those that the account looks back (shapeAccount.ts), and the current one. */
const daysRead = 8;

/** Creates the writer of the shapes of pods that ended; its `forget` drops the ids that a rolled back transaction has made. */
export function createShapeWriter(db: DatabaseSync) {
  const shapeIds = createDimensionIds(db, "shapes");
  const addPods = db.prepare(addRowSql("pod_shapes"));
  const shapesOn = db.prepare("SELECT count(*) AS shapes FROM pod_shapes WHERE day = ?");

  function allowanceOn(day: number): number {
    return maxShapesPerDay - (numberOrNullIn(shapesOn.get(day), "shapes") ?? 0);
  }

  return {
    write({ endedPods }: PackedEntry): void {
      const left = new Map<number, number>();
      for (const { day, shape, pods } of endedPods) {
        if (!shapeIds.knows([shape])) {
          const allowance = left.get(day) ?? allowanceOn(day);
          if (allowance <= 0) continue;
          left.set(day, allowance - 1);
        }
        addPods.run(day, shapeIds.idOf([shape], day), pods);
      }
    },
    forget: () => shapeIds.reload(),
  };
}

/** The shapes of the last days on which pods ended; the most common shape comes first. */
export function readShapes(db: DatabaseSync): readonly PackedShape[] {
  return db
    .prepare(
      `SELECT p.day AS day, s.shape AS shape, p.pods AS pods FROM pod_shapes p JOIN shapes s ON s.id = p.shape
       WHERE p.day > (SELECT max(day) FROM pod_shapes) - ${daysRead} ORDER BY p.pods DESC LIMIT ${daysRead * maxShapesPerDay}`,
    )
    .all()
    .map((row) => ({ day: numberIn(row, "day"), shape: textIn(row, "shape"), pods: numberIn(row, "pods") }));
}
