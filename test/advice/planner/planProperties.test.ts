import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { generatedCase } from "./generatedCases.ts";
import { bruteForce, compareNaive, greedy } from "./naivePlans.ts";
import { faultsOf, namesOf, planFor, problemOf } from "./planBuilder.ts";

const small = generatedCase({ nodes: 4, units: 7, gpus: 4 });
const larger = generatedCase({ nodes: 9, units: 24, gpus: 8 });

describe("a plan for a small cluster", () => {
  it("is the cheapest that trying everything finds, and there is none where that finds none", () => {
    let [plans, none] = [0, 0];
    fc.assert(
      fc.property(small, (one) => {
        const problem = problemOf(one);
        const answer = planFor(problem);
        const naive = bruteForce(problem);
        expect(answer.isExact).toBe(true);
        if (naive === null || naive.moves === 0) {
          none += 1;
          expect(answer.plan).toBeNull();
          if (naive !== null) expect(answer.noPlan?.code).toBe("nothing-to-gain");
          return;
        }
        plans += 1;
        expect({ lost: answer.plan?.lostGpuHours, names: namesOf(problem, answer) }).toEqual({
          lost: naive.lost,
          names: naive.names,
        });
      }),
      { numRuns: 600, seed: 1 },
    );
    expect(Math.min(plans, none)).toBeGreaterThan(100);
  });
});

describe("any plan", () => {
  it.each([
    ["small", small],
    ["larger", larger],
  ] as const)("has a place for every pod, is whole, and breaks no guard: %s clusters", (_size, cases) => {
    let plans = 0;
    fc.assert(
      fc.property(cases, (one) => {
        const problem = problemOf(one);
        const answer = planFor(problem, { looks: 20_000 });
        if (answer.plan !== null) plans += 1;
        expect(faultsOf(problem, answer)).toEqual([]);
        expect((answer.plan === null) !== (answer.noPlan === null)).toBe(true);
      }),
      { numRuns: 300, seed: 2 },
    );
    expect(plans).toBeGreaterThan(50);
  });

  it("is never worse than the greedy one, however short it looked", () => {
    let compared = 0;
    fc.assert(
      fc.property(larger, fc.constantFrom(5000, 50_000), (one, looks) => {
        const problem = problemOf(one);
        const baseline = greedy(problem);
        if (baseline === null || baseline.moves === 0) return;
        compared += 1;
        const answer = planFor(problem, { looks });
        const names = namesOf(problem, answer);
        if (answer.noPlan?.code === "nothing-to-gain") return;
        expect(answer.plan).not.toBeNull();
        const cost = { lost: answer.plan?.lostGpuHours ?? Infinity, moves: names.length, names };
        expect(compareNaive(cost, baseline)).toBeLessThanOrEqual(0);
      }),
      { numRuns: 900, seed: 3 },
    );
    expect(compared).toBeGreaterThan(50);
  });

  it("costs the same whatever the order of nodes and units", () => {
    fc.assert(
      fc.property(small, fc.infiniteStream(fc.nat(1000)), (one, keys) => {
        const shuffled = shuffle(
          one.units.map((_, i) => i),
          keys,
        );
        const problem = problemOf(one);
        const other = {
          ...problem,
          units: shuffled.flatMap((i) => problem.units[i] ?? []),
          vetoesOf: (indices: readonly number[]) => problem.vetoesOf(indices.flatMap((i) => shuffled[i] ?? [])),
        };
        const turned = turnNodes(other);
        const [first, second, third] = [planFor(problem), planFor(other), planFor(turned)];
        const costOf = ({ plan }: typeof first) => [plan?.units.length, plan?.lostGpuHours.toFixed(6)];
        expect([costOf(second), costOf(third)]).toEqual([costOf(first), costOf(first)]);
        expect([second.noPlan?.code, third.noPlan?.code]).toEqual([first.noPlan?.code, first.noPlan?.code]);
      }),
      { numRuns: 200, seed: 4 },
    );
  });
});

function shuffle(items: readonly number[], keys: Iterable<number>): readonly number[] {
  const drawn = keys[Symbol.iterator]();
  return items
    .map((item) => ({ item, key: Number(drawn.next().value) }))
    .sort((a, b) => a.key - b.key || a.item - b.item)
    .map(({ item }) => item);
}

/** The same with its nodes in the opposite order. */
function turnNodes(problem: ReturnType<typeof problemOf>): ReturnType<typeof problemOf> {
  const last = problem.nodes.length - 1;
  const turn = (node: number): number => last - node;
  const kinds = new Map<unknown, (typeof problem.units)[number]["pods"][number]["kind"]>();
  const turnKind = (kind: (typeof problem.units)[number]["pods"][number]["kind"]) => {
    const known = kinds.get(kind) ?? { ...kind, takes: (node: number) => kind.takes(turn(node)) };
    kinds.set(kind, known);
    return known;
  };
  const { goal } = problem;
  return {
    ...problem,
    nodes: problem.nodes.toReversed(),
    units: problem.units.map((unit) => ({
      ...unit,
      pods: unit.pods.map((pod) => ({ ...pod, node: turn(pod.node), kind: turnKind(pod.kind) })),
    })),
    fixedNodes: new Set([...problem.fixedNodes].map(turn)),
    goal:
      goal.kind === "free"
        ? { ...goal, nodes: goal.nodes.map(turn) }
        : { ...goal, parts: goal.parts.map((part) => ({ ...part, kind: turnKind(part.kind) })) },
  };
}
