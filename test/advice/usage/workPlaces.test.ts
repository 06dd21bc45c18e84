import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { placesBefore, type WorkName } from "../../../exporter/advice/usage/workPlaces.ts";

const work = (name: string): WorkName => ({ kind: "Job", namespace: "research", name });
const namesOf = (numbers: readonly number[]): readonly WorkName[] => numbers.map((one) => work(`w${one}`));

/** Up to 40 workloads, of which some leave, some come, and some move far away. */
const change = fc
  .record({
    before: fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 40 }),
    gone: fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 15 }),
    come: fc.uniqueArray(fc.integer({ min: 61, max: 90 }), { maxLength: 15 }),
    at: fc.integer({ min: 0, max: 40 }),
    turned: fc.integer({ min: 0, max: 40 }),
  })
  .map(({ before, gone, come, at, turned }) => {
    const left = before.filter((one) => !gone.includes(one));
    const now = [...left.slice(turned), ...left.slice(0, turned)];
    return { before, now: [...now.slice(0, at), ...come, ...now.slice(at)] };
  });

describe("where workloads were in the moment before", () => {
  it("is what looking each of them up by its name finds", () => {
    fc.assert(
      fc.property(change, ({ before, now }) => {
        const found = [...placesBefore(namesOf(before), namesOf(now))];
        expect(found).toEqual(now.map((one) => before.indexOf(one)));
      }),
      { numRuns: 500, seed: 27 },
    );
  });

  it("is not one place for two workloads of one name", () => {
    const [one, other] = [work("twice"), work("twice")];
    expect([...placesBefore([one], [other, one])].sort()).toEqual([-1, 0]);
    expect([...placesBefore([one, other], [one, other])]).toEqual([0, 1]);
  });

  it("is another one for another kind or namespace", () => {
    const before = [work("a"), { ...work("a"), kind: "Deployment" }, { ...work("a"), namespace: "serving" }];
    expect([...placesBefore(before, before.toReversed())]).toEqual([2, 1, 0]);
  });
});
