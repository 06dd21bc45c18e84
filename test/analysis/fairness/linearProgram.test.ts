import { describe, expect, it } from "vitest";
import { atLeast, atMost, plus, region, total, variable, zero } from "./linearProgram.ts";

const [x, y, z] = [variable(0), variable(1), variable(2)];

describe("a linear program", () => {
  it("is solved where an administrator can check it by hand", () => {
    // 3x + 5y, with x at most 4, 2y at most 12, 3x + 2y at most 18: 36 at (2, 6).
    const bounds = [atMost(x, 4), atMost(plus(zero, y, 2), 12), atMost(plus(plus(zero, x, 3), y, 2), 18)];
    const found = region(2, bounds);
    expect(found.maximise(plus(plus(zero, x, 3), y, 5))).toBeCloseTo(36, 9);
    expect(found.maximise(x)).toBeCloseTo(4, 9);
    expect(found.maximise(plus(zero, y, -1))).toBeCloseTo(0, 9);
  });

  it("begins anywhere: not where everything is nothing", () => {
    const bounds = [atLeast(total([x, y, z]), 6), atMost(x, 1), atMost(y, 2), atMost(z, 10)];
    const found = region(3, bounds);
    expect(found.maximise(plus(zero, z, -1))).toBeCloseTo(-3, 9);
    expect(found.maximise(plus(x, z))).toBeCloseTo(11, 9);
  });

  it("says where nothing keeps all constraints, or nothing bounds the sum", () => {
    expect(() => region(1, [atLeast(x, 2), atMost(x, 1)])).toThrow("no point keeps all constraints");
    expect(() => region(2, [atMost(x, 1)]).maximise(y)).toThrow("no largest value");
  });
});
