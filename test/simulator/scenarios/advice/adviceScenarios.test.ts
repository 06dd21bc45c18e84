import { describe, expect, it } from "vitest";
import type { Scenario } from "../../../../simulator/scenario.ts";
import { weekScenario } from "../../../../simulator/scenarios/advice/week.ts";
import { type Simulator, startSimulator } from "../../../../simulator/simulator.ts";
import type { Truth } from "../../../../simulator/truth.ts";
import { adviceScenarios } from "./byKind.ts";
import { quietScenario } from "./quiet.ts";

const seeds = [1, 2] as const;
const hours = 6;

/** What is so at each half hour of some hours of a scenario. */
async function lifecycleOf(
  scenario: Scenario,
  seed: number,
  each: (truth: Truth, simulator: Simulator) => void,
): Promise<void> {
  const simulator = await startSimulator({ scenario, seed, startAt: 1_795_000_000 });
  try {
    for (let half = 0; half < 2 * hours; half++) {
      each(simulator.truth(), simulator);
      simulator.advance(1800);
    }
  } finally {
    await simulator.stop();
  }
}

const free = ({ physicalGpus }: Truth): number => physicalGpus.filter(({ holders }) => holders.length === 0).length;
const wholeFree = ({ nodes, physicalGpus }: Truth): number =>
  nodes.filter(({ name }) => physicalGpus.every(({ node, holders }) => node !== name || holders.length === 0)).length;
const queue = (truth: Truth, name: string) => truth.queues.find((each) => each.queue === name);
const waits = ({ pending }: Truth, prefix: string): boolean =>
  pending.some(({ workload }) => workload.startsWith(prefix));
/** GPUs that a namespace holds. */
const allocated = ({ physicalGpus }: Truth, namespace: string): number =>
  physicalGpus.filter(({ holders }) => holders.some((holder) => holder.namespace === namespace)).length;

/** How many of the moments show the problem. */
async function share(scenario: Scenario, seed: number, shows: (truth: Truth) => boolean): Promise<number> {
  let count = 0;
  let all = 0;
  await lifecycleOf(scenario, seed, (truth) => {
    all++;
    if (shows(truth)) count++;
  });
  return count / all;
}

describe.each(seeds)("with seed %i the problem is there by itself", (seed) => {
  it.each([
    ["reclaim", (t: Truth) => (queue(t, "ads")?.allocated ?? 0) > 24 && (queue(t, "search")?.waiting ?? 0) > 0],
    ["defragment", (t: Truth) => waits(t, "trainer") && free(t) >= 8 && wholeFree(t) === 0],
    ["release_idle", (t: Truth) => waits(t, "asr") && allocated(t, "notebooks") >= 12],
    ["scale_in", (t: Truth) => wholeFree(t) >= 3],
    ["change_quota", (t: Truth) => (queue(t, "blue")?.waiting ?? 0) > 0 && free(t) >= 12],
    ["share_gpu", (t: Truth) => waits(t, "asr") && allocated(t, "tools") === 12],
    ["right_size", (t: Truth) => waits(t, "trainer")],
    ["unblock_gang", (t: Truth) => waits(t, "judge") && waits(t, "rollout") && allocated(t, "agents") === 12],
    ["drain_node", (t: Truth) => t.physicalGpus.some(({ healthy, holders }) => !healthy && holders.length > 0)],
    ["fix_scheduler", (t: Truth) => (queue(t, "ads")?.allocated ?? 0) > 24 && (queue(t, "search")?.waiting ?? 0) > 0],
    ["fix_source", (t: Truth) => free(t) <= 8],
  ] as const)("%s", async (kind, shows) => {
    expect(await share(adviceScenarios[kind](), seed, shows)).toBeGreaterThanOrEqual(0.6);
  });

  it("and in the quiet cluster there is none: all is allocated and used, and each queue has its own", () =>
    lifecycleOf(quietScenario(), seed, (truth) => {
      expect(free(truth)).toBeLessThanOrEqual(8);
      for (const name of ["red", "blue"]) expect(queue(truth, name)?.allocated).toBeLessThanOrEqual(16);
    }));
});

describe("the week", () => {
  it("is played in steps of five minutes, and differs by seed", async () => {
    const lives = await Promise.all(
      seeds.map(async (seed) => {
        const simulator = await startSimulator({ scenario: weekScenario(), seed, startAt: 1_795_000_000 });
        simulator.advance(86_400);
        const truth = simulator.truth();
        await simulator.stop();
        return truth;
      }),
    );
    for (const truth of lives) {
      expect(truth.physicalGpus).toHaveLength(248);
      expect(truth.observedAt).toBe(truth.at);
      expect(wholeFree(truth)).toBeGreaterThan(0);
    }
    expect(new Set(lives.map(({ queues }) => JSON.stringify(queues))).size).toBe(seeds.length);
  });
});
