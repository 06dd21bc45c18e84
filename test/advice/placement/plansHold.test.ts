import { describe, expect, it } from "vitest";
import type { Recommendation } from "../../../exporter/model/recommendation.ts";
import { createRandomStream } from "../../../simulator/random.ts";
import { leadsToWorse, plansOf, readObjects } from "./adviseObjects.ts";
import { carryOutSteps } from "./carryOutSteps.ts";
import { type DrawnCluster, drawCluster } from "./drawnCluster.ts";
import { createNaiveCluster } from "./naiveScheduler.ts";

const seeds = Array.from({ length: 300 }, (_, i) => 4000 + i);

/** What a plan promised has come true: its pods have places that are no worse, and it has gained what it was for. */
async function expectKept(drawn: DrawnCluster, plan: Recommendation, seed: number): Promise<void> {
  const naive = createNaiveCluster(drawn, createRandomStream(seed));
  const before = new Map(naive.nodeOf);
  for (const { pod, to } of await carryOutSteps(plan, naive)) {
    expect(to, `${plan.title}: ${pod}`).not.toBeNull();
    expect(leadsToWorse(drawn, before.get(pod) ?? "", to ?? ""), `${plan.title}: ${pod} on ${to}`).toBe(false);
  }
  if (plan.beneficiary.kind === "pool") {
    const [freed = ""] = / then (\S+) \(/.exec(plan.title)?.slice(1) ?? [];
    const held = drawn.pods.filter(({ metadata, spec }) => {
      const gpus = spec.containers[0]?.resources.limits["nvidia.com/gpu"];
      return gpus !== undefined && naive.nodeOf.get(metadata.name) === freed;
    });
    expect(held, plan.title).toEqual([]);
    return;
  }
  naive.placeWaiting();
  expect(naive.nodeOf.get(plan.beneficiary.name.split("/")[1] ?? ""), plan.title).not.toBeNull();
}

const wasCutShort = ({ evidence }: Recommendation): boolean => evidence.some(({ value }) => value.endsWith("not all"));

describe("plans for drawn clusters with affinity, ports, volumes, spread, taints and capacity types", () => {
  const drawn = seeds.map((seed) => drawCluster(seed, `c${seed}`));
  const plans = drawn.map((one) => plansOf(readObjects(one)));

  it("hold wherever a plain scheduler puts the pods", async () => {
    let count = 0;
    for (const [i, one] of drawn.entries())
      for (const plan of plans[i] ?? []) {
        count += 1;
        for (const seed of [1, 2, 3]) await expectKept(one, plan, seed);
      }
    expect(count).toBeGreaterThan(60);
  });

  it("are there, and worth the same, whatever pods and nodes are called", () => {
    const worths = (of: readonly Recommendation[]) =>
      of.map(({ kind, worthGpuHours }) => `${kind} ${worthGpuHours.toFixed(6)}`).sort();
    let compared = 0;
    for (const seed of seeds.slice(0, 150)) {
      const turned = (name: string): string => `${9 - Number(name.at(-1) ?? 0) || 0}${[...name].toReversed().join("")}`;
      const renamed = plansOf(readObjects(drawCluster(seed, `c${seed}`, turned)));
      const own = plans[seed - 4000] ?? [];
      // Where not all ways were tried, the first that are tried decide.
      if ([...own, ...renamed].some(wasCutShort)) continue;
      compared += 1;
      expect([seed, worths(renamed)]).toEqual([seed, worths(own)]);
    }
    expect(compared).toBeGreaterThan(140);
  });
});
