import { describe, expect, it } from "vitest";
import { isTolerated, meets, selects } from "../../../exporter/model/queues/nodeMatch.ts";

const labels = { zone: "a", slots: "8", text: "8x" };

describe("a requirement on labels", () => {
  it.each([
    ["zone", "In", ["a", "b"], true],
    ["zone", "In", ["b"], false],
    ["gone", "In", ["a"], false],
    ["zone", "NotIn", ["b"], true],
    ["zone", "NotIn", ["a"], false],
    ["gone", "NotIn", ["a"], true],
    ["zone", "Exists", [], true],
    ["gone", "Exists", [], false],
    ["zone", "DoesNotExist", [], false],
    ["gone", "DoesNotExist", [], true],
    ["slots", "Gt", ["7"], true],
    ["slots", "Gt", ["8"], false],
    ["slots", "Lt", ["9"], true],
    ["slots", "Lt", ["8"], false],
    ["text", "Gt", ["7"], false],
    ["slots", "Gt", ["many"], false],
    ["gone", "Lt", ["9"], false],
    ["slots", "Gt", [], false],
    ["zone", "Like", ["a"], false],
  ])("%s %s %j is %s", (key, operator, values, expected) => {
    expect(meets(labels, { key, operator, values })).toBe(expected);
  });
});

it("a node is selected by all of the selector and all of one term", () => {
  const inA = { key: "zone", operator: "In", values: ["a"] };
  const inB = { key: "zone", operator: "In", values: ["b"] };
  const many = { key: "slots", operator: "Gt", values: ["4"] };
  expect(selects({ nodeSelector: { zone: "a", slots: "8" }, nodeAffinity: [] }, labels)).toBe(true);
  expect(selects({ nodeSelector: { zone: "a", slots: "4" }, nodeAffinity: [] }, labels)).toBe(false);
  expect(selects({ nodeSelector: {}, nodeAffinity: [[inB], [inA, many]] }, labels)).toBe(true);
  expect(selects({ nodeSelector: {}, nodeAffinity: [[inB, many]] }, labels)).toBe(false);
});

describe("a taint", () => {
  const taint = { key: "dedicated", value: "ml", effect: "NoSchedule" } as const;
  const toleration = { key: "dedicated", operator: "Equal", value: "ml", effect: null } as const;
  it.each([
    ["by nobody", [], false],
    ["by key and value", [toleration], true],
    ["by key and another value", [{ ...toleration, value: "web" }], false],
    ["by key alone", [{ ...toleration, operator: "Exists", value: "" }], true],
    ["by another key", [{ ...toleration, key: "other" }], false],
    ["by all", [{ ...toleration, key: "", operator: "Exists", value: "" }], true],
    ["for its effect", [{ ...toleration, effect: "NoSchedule" }], true],
    ["for another effect", [{ ...toleration, effect: "NoExecute" }], false],
  ] as const)("is tolerated %s", (_, tolerations, expected) => {
    expect(isTolerated(taint, tolerations)).toBe(expected);
  });

  it("that only prefers keeps nobody out", () => {
    expect(isTolerated({ ...taint, effect: "PreferNoSchedule" }, [])).toBe(true);
  });
});
