import { expect, it } from "vitest";
import { carryOut } from "../../../exporter/advice/planner/carryOut.ts";
import { type CaseUnit, planFor, problemOf } from "./planBuilder.ts";

/** Five pods of one GPU have to leave a node of eight, and two others have room for seven: there are many ways in which they may be placed. */
const ones = Array.from(
  { length: 5 },
  (_, i): CaseUnit => ({ name: `one-${i}`, pods: [{ node: 0, gpus: 1 }], lost: 1 }),
);
const problem = problemOf({
  nodes: [{ gpus: 8 }, { gpus: 3 }, { gpus: 4 }],
  units: ones,
  goal: [{ gpus: 8, pods: 1 }],
});
const { plan } = planFor(problem);
const rules = { cordoned: [], spoils: new Set<number>() };

it("counts what it looks at, and knows an order where each way leads to the goal", () => {
  if (plan === null) throw new Error("there is a plan");
  const looks = { left: 100_000 };
  const found = carryOut(problem, plan, rules, looks);
  expect(found).toMatchObject({ avoid: [0] });
  expect(looks.left).toBeLessThan(100_000);
  // What is left is enough, to the last look.
  const enough = { left: 100_000 - looks.left };
  expect(carryOut(problem, plan, rules, enough)).toEqual(found);
  expect(enough.left).toBe(0);
});

it("does not know whether a plan can be carried out where looking would take longer, and looks no further", () => {
  if (plan === null) throw new Error("there is a plan");
  const looks = { left: 10 };
  expect(carryOut(problem, plan, rules, looks)).toBe("not known");
  expect(looks.left).toBe(0);
});

it("knows that there is no order where a pod may land where it undoes the gain", () => {
  if (plan === null) throw new Error("there is a plan");
  const looks = { left: 100_000 };
  expect(carryOut(problem, plan, { ...rules, spoils: new Set([1, 2]) }, looks)).toBe("no order");
});
