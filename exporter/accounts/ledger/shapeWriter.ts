import type { DatabaseSync } from "node:sqlite";
import { createDimensionIds } from "./dimensionIds.ts";
import type { PackedEntry } from "./packedEntry.ts";
import type { PackedShape } from "./packedShapes.ts";
import { numberIn, textIn } from "./sqliteRow.ts";

/** The most shapes of one day; pods of other shapes that end on it are not kept, so that nobody's pods can fill the disk. */
const maxShapesPerDay = 4000;

/** As many days as the account looks back (shapeAccount.ts), and the current one. */
const daysRead = 8;

/** Writes which shapes the pods that ended had; `forget` drops the ids that a rolled back transaction has made. */
export function createShapeWriter(db: DatabaseSync) {
  const shapeIds = createDimensionIds(db, "shapes", ["shape"]);
  const addPods = db.prepare(
    "INSERT INTO pod_shapes (day, shape, pods) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET pods = pod_shapes.pods + excluded.pods",
  );
  const shapesOn = db.prepare("SELECT count(*) AS shapes FROM pod_shapes WHERE day = ?");

  function allowanceOn(day: number): number {
    const row = shapesOn.get(day);
    return row === undefined ? 0 : maxShapesPerDay - numberIn(row, "shapes");
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

/** The shapes of the last days on which pods ended, the most common first. */
export function readShapes(db: DatabaseSync): readonly PackedShape[] {
  return db
    .prepare(
      `SELECT p.day AS day, s.shape AS shape, p.pods AS pods FROM pod_shapes p JOIN shapes s ON s.id = p.shape
       WHERE p.day > (SELECT max(day) FROM pod_shapes) - ${daysRead} ORDER BY p.pods DESC LIMIT ${daysRead * maxShapesPerDay}`,
    )
    .all()
    .map((row) => ({ day: numberIn(row, "day"), shape: textIn(row, "shape"), pods: numberIn(row, "pods") }));
}
