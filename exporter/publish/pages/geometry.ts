/** A point of a drawing. */
export type Point = readonly [x: number, y: number];

/** Writes a coordinate of a drawing: a tenth of a pixel is enough, and short. */
export const place = (value: number): string => `${Math.round(value * 10) / 10}`;

/** Finds the runs of known values that follow each other; between two runs nothing is known, and nothing is drawn. */
export function knownRuns(
  values: readonly (number | null)[],
): readonly (readonly [from: number, values: readonly number[]])[] {
  const runs: [number, number[]][] = [];
  let open: number[] | null = null;
  for (const [i, value] of values.entries()) {
    if (value === null) open = null;
    else if (open === null) {
      open = [value];
      runs.push([i, open]);
    } else open.push(value);
  }
  return runs;
}

/** The corners of steps of equal width, without those between steps of equal height. */
export function stepPoints(
  from: number,
  values: readonly number[],
  x: (index: number) => number,
  y: (value: number) => number,
): readonly Point[] {
  const points: Point[] = [];
  for (const [i, value] of values.entries()) {
    const isSame = i > 0 && values[i - 1] === value;
    if (isSame) points.pop();
    else points.push([x(from + i), y(value)]);
    points.push([x(from + i + 1), y(value)]);
  }
  return points;
}

/** A line through points, as the data of a path. */
export function linePath(points: readonly Point[]): string {
  return points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${place(x)} ${place(y)}`).join("");
}

/**
 * A line of levels and risers (`stepPoints`): each point has only the coordinate that changes, and a level only its length,
 * which takes half the bytes. Coordinates are in tenths of a unit, and one that is the same in tenths is not written again.
 */
export function stepPath(points: readonly Point[], command: "M" | "L" = "M"): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  let [left, top] = [place(first[0]), place(first[1])];
  const parts = [`${command}${left} ${top}`];
  for (const [i, point] of rest.entries()) {
    const [x, y] = [place(point[0]), place(point[1])];
    // If levels of one height follow each other, only the end of the last one is needed.
    const next = rest[i + 1];
    const goesOn = y === top && next !== undefined && place(next[1]) === top;
    if (goesOn) continue;
    if (x !== left) parts.push(`h${place(Number(x) - Number(left))}`);
    if (y !== top) parts.push(`V${y}`);
    [left, top] = [x, y];
  }
  return parts.join("");
}

/** The smallest round number that is not below a value; 1 for values that are not above 0. */
export function roundAbove(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((one) => one * power >= value) ?? 10;
  return Number((step * power).toPrecision(3));
}
