import { describe, expect, it } from "vitest";
import { charged, shareUnallocated } from "../../exporter/model/charge.ts";

const costs = [
  ["active", 6],
  ["underutilized", 2],
  ["idle", 1],
  ["unavailable", 0.5],
  ["free", 4],
] as const;

describe("what a team is charged", () => {
  it.each([
    { basis: "allocation", notCharged: ["unavailable"], pays: 9, stays: 4.5 },
    { basis: "allocation", notCharged: [], pays: 9.5, stays: 4 },
    { basis: "use", notCharged: ["unavailable"], pays: 6, stays: 7.5 },
    { basis: "use", notCharged: ["active"], pays: 0, stays: 13.5 },
  ] as const)("by $basis, without $notCharged, is $pays", ({ basis, notCharged, pays, stays }) => {
    expect(charged(costs, basis, notCharged)).toEqual({ charged: pays, platform: stays });
  });
});

describe("unallocated cost, shared", () => {
  it("follows what each is charged", () => {
    const { shares, platform } = shareUnallocated(
      new Map([
        ["a", 30],
        ["b", 10],
        ["c", 0],
      ]),
      8,
    );
    expect([...shares]).toEqual([
      ["a", 6],
      ["b", 2],
      ["c", 0],
    ]);
    expect(platform).toBe(0);
  });

  it("stays with the platform when nobody is charged anything", () => {
    expect(shareUnallocated(new Map([["a", 0]]), 8)).toEqual({ shares: new Map([["a", 0]]), platform: 8 });
  });
});
