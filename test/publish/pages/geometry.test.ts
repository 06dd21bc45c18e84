import fc from "fast-check";
import { expect, test } from "vitest";
import { linePath, place, stepPath, stepPoints } from "../../../exporter/publish/pages/geometry.ts";

/** The points that a path of M, L, h and V goes through, without those on a straight way. */
function corners(path: string): readonly string[] {
  let [x, y] = ["0", "0"];
  const points: [string, string][] = [];
  for (const [, command, first = "", second = ""] of path.matchAll(/([MLhV])(-?[\d.]+)(?: (-?[\d.]+))?/g)) {
    if (command === "h") x = place(Number(x) + Number(first));
    else if (command === "V") y = first;
    else [x, y] = [first, second];
    points.push([x, y]);
  }
  const turns = points.filter(([left, top], i) => {
    const [before, after] = [points[i - 1], points[i + 1]];
    if (before === undefined || after === undefined) return true;
    return !(before[0] === left && left === after[0]) && !(before[1] === top && top === after[1]);
  });
  return turns.map((point) => point.join(" "));
}

test("a path of steps goes through the corners of the line through all points", () => {
  const values = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(values, (levels) => {
      const points = stepPoints(
        0,
        levels,
        (i) => i * 7.3,
        (value) => value * 3.1,
      );
      expect(corners(stepPath(points))).toEqual(corners(linePath(points)));
      expect(stepPath(points).length).toBeLessThanOrEqual(linePath(points).length);
    }),
  );
  expect(place(0.04)).toBe("0");
});
