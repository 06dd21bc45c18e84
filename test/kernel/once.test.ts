import { describe, expect, it } from "vitest";
import { once, oncePer } from "../../exporter/kernel/once.ts";

describe("what is made once", () => {
  it("is made when it is first asked for, and no second time, also if it is undefined", () => {
    let made = 0;
    const value = once((): undefined => {
      made += 1;
    });
    expect(made).toBe(0);
    expect([value(), value(), made]).toEqual([undefined, undefined, 1]);
  });

  it("is made once for each object", () => {
    let made = 0;
    const sizeOf = oncePer((list: readonly number[]) => {
      made += 1;
      return list.length;
    });
    const [one, other] = [[1], [1, 2]];
    expect([sizeOf(one), sizeOf(one), sizeOf(other), made]).toEqual([1, 1, 2, 2]);
  });
});
