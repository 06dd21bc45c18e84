import { describe, expect, it } from "vitest";
import { playInMemory } from "../../../cli/demo/playInMemory.ts";
import { headOfLineScenario } from "../../simulator/scenarios/advice/headOfLine.ts";
import { startAt } from "../accounting.ts";
import { closeLoop, loopConfig, recommendationsNow } from "./closedLoop.ts";
import { trulyAllocated, trulyLost } from "./trueEffect.ts";

describe("work behind the head of a strict queue", () => {
  it.each([101, 102])("starts when its priority is boosted as advised, seed %i", async (seed) => {
    const options = {
      kind: "unblock_gang",
      scenario: headOfLineScenario(),
      seed,
      interval: 60,
      openWithin: 3600,
    } as const;
    await closeLoop(options, ({ offered, ended, before, after, play }) => {
      expect(offered.title).toMatch(
        /^boost the priority of vision\/small\S* and vision\/small\S* \(8 GPUs\) past vision\/big/,
      );
      expect(offered.effect.gainedGpus).toEqual({ worst: 8, best: 8 });
      expect(ended).toMatchObject({ state: "taken", measured: { gainedGpus: 8, lostGpuHours: 0 } });
      expect(offered.effect.starts.map((work) => [trulyAllocated(before, work), trulyAllocated(after, work)])).toEqual([
        [0, 4],
        [0, 4],
      ]);
      expect(trulyLost(before, after)).toBe(0);
      const workloads = play.stack.kubernetes.read().queues.kueueWorkloads;
      expect(workloads.filter(({ priorityBoost }) => priorityBoost !== undefined)).toEqual([]);
    });
  });

  it("is left alone where the queue serves whoever fits", async () => {
    const { queueing, ...rest } = headOfLineScenario();
    const kueue = queueing.kueue && {
      ...queueing.kueue,
      clusterQueues: queueing.kueue.clusterQueues.map((queue) => ({ ...queue, strategy: "BestEffortFIFO" as const })),
    };
    const scenario = { ...rest, queueing: { ...queueing, kueue } };
    const play = await playInMemory({ scenario, seed: 101, startAt, config: loopConfig(60) });
    try {
      for (let cycle = 0; cycle < 20; cycle++) {
        await play.step(60);
        expect(recommendationsNow(play).filter(({ kind }) => kind === "unblock_gang")).toEqual([]);
      }
    } finally {
      await play.stop();
    }
  });
});
