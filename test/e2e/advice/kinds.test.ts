import { describe, expect, it } from "vitest";
import { playInMemory } from "../../../cli/demo/playInMemory.ts";
import { type AdviceKind, adviceKinds } from "../../../exporter/model/recommendation.ts";
import type { Truth } from "../../../simulator/truth.ts";
import { adviceScenarios } from "../../simulator/scenarios/advice/byKind.ts";
import { quietScenario } from "../../simulator/scenarios/advice/quiet.ts";
import { startAt } from "../accounting.ts";
import { type ClosedLoop, closeLoop, type LoopOptions, loopConfig, recommendationsNow } from "./closedLoop.ts";
import { nameIn, trulyAllocated, trulyAllocatedIn, trulyBusy, trulyLost } from "./trueEffect.ts";

/** None of these was played while scenarios and advice were made. */
const seeds = [101, 102];

const quietSeeds = [101, 102, 103, 104];

const hour = 3600;
const tolerance = 1e-6;

interface KindOfLoop extends Pick<LoopOptions, "interval" | "openWithin" | "advice"> {
  /** What must really be so in the end, by the simulator's own word. */
  readonly isSo: (loop: ClosedLoop) => void | Promise<void>;
}

/** The work that was to start holds GPUs. */
function startedWork({ offered, after }: ClosedLoop): void {
  const { starts, gainedGpus } = offered.effect;
  expect(starts.length).toBeGreaterThan(0);
  const allocated = starts.reduce((sum, work) => sum + trulyAllocated(after, work), 0);
  expect(allocated, starts.join()).toBeGreaterThanOrEqual(gainedGpus.worst - tolerance);
}

/** Its targets hold as many GPUs less as was said. */
function allocatedLess({ offered, before, after }: ClosedLoop): void {
  const less = offered.targets.map(nameIn).map((work) => trulyAllocated(before, work) - trulyAllocated(after, work));
  expect(less.reduce((sum, gpus) => sum + gpus, 0)).toBeCloseTo(offered.effect.gainedGpus.worst, 6);
}

/** A queue of that name serves the namespace of that name in these scenarios. */
function queueHoldsMore({ offered, before, after }: ClosedLoop): void {
  const queue = offered.beneficiary.name;
  const more = trulyAllocatedIn(after, queue) - trulyAllocatedIn(before, queue);
  expect(more, `allocated to ${queue}`).toBeGreaterThanOrEqual(offered.effect.gainedGpus.worst - tolerance);
}

const short = { interval: 60, openWithin: 4 * hour };
/** What serves requests is watched for a day before anybody says that it needs less. */
const long = { interval: 600, openWithin: 30 * hour };

const loops: Readonly<Record<AdviceKind, KindOfLoop>> = {
  reclaim: {
    ...short,
    // Who wants `reclaimWithinCohort: Never` is not advised to change it; else that may be worth more than to act by hand.
    advice: { disabledKinds: ["fix_scheduler"] },
    isSo: (loop) => {
      startedWork(loop);
      queueHoldsMore(loop);
    },
  },
  defragment: { ...short, isSo: startedWork },
  release_idle: { ...short, isSo: allocatedLess },
  scale_in: {
    ...short,
    isSo({ offered, before, after }) {
      // The setting of its NodePool keeps them: it is changed, and Karpenter removes them.
      expect(offered.targets).toEqual(["NodePool batch"]);
      const there = new Set(after.nodes.map(({ name }) => name));
      const gone = before.nodes.filter(({ name }) => !there.has(name));
      expect(gone.reduce((sum, { physicalGpus }) => sum + physicalGpus, 0)).toBe(offered.effect.gainedGpus.worst);
    },
  },
  change_quota: { ...short, isSo: queueHoldsMore },
  share_gpu: { ...long, isSo: allocatedLess },
  right_size: { ...long, isSo: allocatedLess },
  unblock_gang: {
    ...short,
    isSo(loop) {
      const { offered, before, after } = loop;
      startedWork(loop);
      const work = offered.beneficiary.name;
      expect(trulyBusy(before, work), "nothing ran before").toBe(0);
      expect(trulyBusy(after, work), "all of it computes").toBeGreaterThan(offered.effect.gainedGpus.worst / 2);
    },
  },
  drain_node: {
    ...short,
    isSo({ offered, before, after }) {
      const sick = ({ physicalGpus }: Truth) => physicalGpus.filter(({ healthy }) => !healthy);
      expect(sick(before).map(({ holders }) => holders.length)).toEqual([1]);
      expect(sick(after).map(({ holders }) => holders.length)).toEqual([0]);
      const served = ({ physicalGpus }: Truth) =>
        physicalGpus.filter(({ healthy, holders }) => healthy && holders.length > 0).length;
      expect(served(after)).toBe(served(before) + 1);
      const node = after.nodes.find(({ name }) => name === offered.beneficiary.name);
      expect(node?.schedulable).toBe(false);
    },
  },
  fix_scheduler: {
    ...short,
    isSo(loop) {
      startedWork(loop);
      expect(loop.after.evictions, "its scheduler took it back").toBeGreaterThan(loop.before.evictions);
    },
  },
  fix_source: {
    ...short,
    isSo({ play, offered }) {
      const exporter = play.cluster.exporters.get(offered.beneficiary.name);
      const page = (): string => String(exporter?.read("/metrics").body);
      const first = page();
      play.cluster.advance(120);
      expect(first).toContain("DCGM_FI_DEV_GPU_UTIL");
      expect(page(), "its values move again").not.toBe(first);
    },
  },
};

describe.each(adviceKinds)("%s", (kind) => {
  it.each(seeds)("helps as it was said to, seed %i", async (seed) => {
    const { isSo, ...options } = loops[kind];
    await closeLoop({ ...options, kind, seed, scenario: adviceScenarios[kind]() }, async (loop) => {
      expectPredicted(loop);
      await isSo(loop);
    });
  });
});

function expectPredicted({ offered, ended, before, after }: ClosedLoop): void {
  const { gainedGpus } = offered.effect;
  expect(ended.state, ended.title).toBe("taken");
  const { gainedGpus: gained = Number.NaN, lostGpuHours: lost = Number.NaN } = ended.measured ?? {};
  expect(gained, ended.title).toBeGreaterThanOrEqual(gainedGpus.worst - tolerance);
  expect(gained, ended.title).toBeLessThanOrEqual(gainedGpus.best + tolerance);
  // Work goes on until it is stopped, and until that is seen.
  const hours = ((ended.closedAt ?? Number.NaN) - offered.computedAt) / hour;
  const stopped = offered.targets.map(nameIn).reduce((sum, work) => sum + trulyAllocated(before, work), 0);
  expect(ended.measured?.undone, ended.title).toBeNull();
  expect(lost, ended.title).toBeLessThanOrEqual(offered.cost.lostGpuHours + stopped * hours + tolerance);
  if (offered.kind !== "fix_scheduler")
    expect(trulyLost(before, after), "really lost").toBeLessThanOrEqual(lost + tolerance);
  // Nor is more reported than was lost: but for the time of a restart, and of the cycle in which it is seen.
  const touched = Math.max(stopped, offered.effect.gainedGpus.best);
  const late = offered.cost.pods === 0 ? 0 : touched * (1 / 6 + hours);
  expect(lost, ended.title).toBeLessThanOrEqual(trulyLost(before, after) + late + tolerance);
}

describe("a cluster where all is well", () => {
  it.each(quietSeeds)("is given no advice in an hour, seed %i", async (seed) => {
    const play = await playInMemory({ scenario: quietScenario(), seed, startAt, config: loopConfig(60) });
    try {
      await play.step(0);
      for (let passed = 0; passed <= hour; passed += 60) {
        expect(recommendationsNow(play).map(({ title }) => title)).toEqual([]);
        await play.step(60);
      }
      const { ok, failed } = play.stack.cycle.health().cycles;
      expect([ok > hour / 60, failed]).toEqual([true, 0]);
    } finally {
      await play.stop();
    }
  });
});
