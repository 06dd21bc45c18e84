import fc from "fast-check";
import { expect, it } from "vitest";
import { deviationsIn } from "../../../exporter/analysis/fairness/deviations.ts";
import { judgeFairness } from "../../../exporter/analysis/fairness/judgeFairness.ts";
import { moments } from "./generatedMoments.ts";
import { everything } from "./generatedTrees.ts";

it("deviations alone are those that everything else goes with", () => {
  let off = 0;
  fc.assert(
    fc.property(moments(everything), (moment) => {
      const fairness = judgeFairness(moment, null);
      const alone = deviationsIn(moment, null, new Set(moment.domains.keys()));
      const leaves = moment.queues.flatMap(({ isLeaf }, index) => (isLeaf ? [index] : []));
      for (const index of leaves) {
        expect(alone.get(index)).toBe(fairness.queues[index]?.deviation);
        if (alone.get(index) !== 0) off += 1;
      }
    }),
    { numRuns: 200, seed: 12 },
  );
  expect(off).toBeGreaterThan(100);
});
