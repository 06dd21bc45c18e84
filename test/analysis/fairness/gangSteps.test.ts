import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { actionableGangs, createGangSteps } from "../../../exporter/analysis/fairness/actionable.ts";
import type { NeverReason, Queueing, WaitingGang } from "../../../exporter/join/queues/queueing.ts";
import { moments } from "./generatedMoments.ts";
import { everything } from "./generatedTrees.ts";
import { flavorMoments } from "./generatedUnits.ts";

const nevers: readonly (NeverReason | null)[] = [
  null,
  null,
  null,
  null,
  "paused",
  "no-queue",
  "above-limit",
  "no-node",
];

/** The same gangs; some can never run, ask for what nobody knows, or have a second part. */
function troubled({ gangs }: Queueing, seed: number): readonly WaitingGang[] {
  return gangs.map((gang, i): WaitingGang => {
    const roll = (seed + 7 * i) % 23;
    const parts = roll === 5 ? gang.parts.map((part) => ({ ...part, gpusPerPod: null })) : gang.parts;
    return {
      ...gang,
      never: nevers[roll % nevers.length] ?? null,
      parts: roll === 6 ? [...parts, ...parts.map((part) => ({ ...part, pods: part.pods + 1 }))] : parts,
    };
  });
}

const anyMoment = fc
  .tuple(fc.oneof(moments(everything), flavorMoments(), flavorMoments({ classesInFlavors: true })), fc.nat(1000))
  .map(([moment, seed]): Queueing => ({ ...moment, gangs: troubled(moment, seed) }));

/** What the gangs that start take of each record, looked at one by one. */
function takenBy(moment: Queueing, offers: ReadonlyMap<number, number>): ReadonlyMap<number, number> {
  const taken = new Map<number, number>([...offers.keys()].map((queue) => [queue, 0]));
  for (const { parts } of actionableGangs(moment, offers, new Set()))
    for (const { queue, pods, gpusPerPod } of parts)
      if (queue !== null && taken.has(queue)) taken.set(queue, (taken.get(queue) ?? 0) + pods * (gpusPerPod ?? 0));
  return taken;
}

describe("what whole gangs can use of what their queue could have", () => {
  it("is what those that start take, also where most are passed over as too large", () => {
    let starts = 0;
    fc.assert(
      fc.property(
        anyMoment,
        fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 9, maxLength: 9 }),
        (moment, gpus) => {
          const gangSteps = createGangSteps(moment);
          const leaves = [...moment.queues.keys()].filter((queue) => moment.queues[queue]?.isLeaf === true);
          for (const records of Map.groupBy(leaves, (queue) => moment.queues[queue]?.name).values()) {
            const offers = new Map(records.map((queue) => [queue, gpus[queue % gpus.length] ?? 0] as const));
            const taken = takenBy(moment, offers);
            const steps = gangSteps(records, offers);
            for (const queue of records) expect(steps.get(queue)).toBeCloseTo(taken.get(queue) ?? 0, 6);
            starts += [...taken.values()].filter((one) => one > 0).length;
          }
        },
      ),
      { numRuns: 2_000, seed: 20_261_127 },
    );
    expect(starts).toBeGreaterThan(1_000);
  });
});
