import { describe, expect, test } from "vitest";
import { createDataSharer } from "../../exporter/kernel/sharedData.ts";

describe("shared data", () => {
  test("is one object for equal content", () => {
    const share = createDataSharer<readonly object[]>();
    const first = share([{ key: "a", values: ["b"] }]);
    expect(share([{ key: "a", values: ["b"] }])).toBe(first);
    expect(share([{ key: "a", values: ["c"] }])).toEqual([{ key: "a", values: ["c"] }]);
  });

  test("begins anew when there is too much of it", () => {
    const share = createDataSharer<readonly number[]>(2);
    const first = share([1]);
    share([2]);
    expect(share([1])).toBe(first);
    share([3]);
    expect(share([1])).not.toBe(first);
    expect(share([1])).toEqual([1]);
  });

  test("that is very long is passed through", () => {
    const share = createDataSharer<readonly string[]>();
    const long = ["x".repeat(5000)];
    expect(share(long)).toBe(long);
    expect(share([...long])).not.toBe(long);
  });
});
