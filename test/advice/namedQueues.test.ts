import { expect, it } from "vitest";
import { withMostChangedQueues } from "../../exporter/advice/namedQueues.ts";
import type { EffectMeasures } from "../../exporter/model/recommendation.ts";
import { reclaimAdvice } from "../publish/someAdvice.ts";

const domain = "H100";

/** Measures in which each queue has this deviation, in their order. */
const measuresOf = (gpus: Readonly<Record<string, number>>): EffectMeasures => ({
  ...reclaimAdvice.effect.before,
  deviations: Object.entries(gpus).map(([queue, amount]) => ({ queue, domain, gpus: amount })),
});

const namesOf = ({ deviations }: EffectMeasures): readonly string[] => deviations.map(({ queue }) => queue);

it("names the queues that change most under either placement rule, in this order on all sides", () => {
  const { before, after } = withMostChangedQueues({
    before: measuresOf({ a: 0, b: 8, c: -4 }),
    after: {
      mostAllocated: measuresOf({ a: 0.5, b: 8, c: -4 }),
      leastAllocated: measuresOf({ a: 0, b: 0, c: -2 }),
    },
  });
  for (const measures of [before, after.mostAllocated, after.leastAllocated])
    expect(namesOf(measures)).toEqual(["b", "c", "a"]);
  expect(after.leastAllocated.deviations.map(({ gpus }) => gpus)).toEqual([0, -2, 0]);
});

it("names twenty of hundreds, whatever their order, and leaves all other measures as they are", () => {
  const names = Array.from({ length: 500 }, (_, i) => `queue-${i}`);
  const before = measuresOf(Object.fromEntries(names.map((name) => [name, -1])));
  const changed = measuresOf(Object.fromEntries(names.map((name, i) => [name, -1 + i / 100])));
  const bounded = withMostChangedQueues({ before, after: { mostAllocated: changed, leastAllocated: before } });
  const expected = names.slice(-20).toReversed();
  for (const measures of [bounded.before, bounded.after.mostAllocated, bounded.after.leastAllocated])
    expect(namesOf(measures)).toEqual(expected);
  expect({ ...bounded.before, deviations: before.deviations }).toEqual(before);
});

it("keeps a queue that has no deviation on one side", () => {
  const bounded = withMostChangedQueues({
    before: measuresOf({}),
    after: { mostAllocated: measuresOf({ a: 3 }), leastAllocated: measuresOf({}) },
  });
  expect([bounded.before, bounded.after.mostAllocated, bounded.after.leastAllocated].map(namesOf)).toEqual([
    [],
    ["a"],
    [],
  ]);
});
