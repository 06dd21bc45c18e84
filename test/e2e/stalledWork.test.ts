import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MemoryPlay, playInMemory } from "../../cli/demo/playInMemory.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import type { Recommendation } from "../../exporter/model/recommendation.ts";
import { stalledWorkScenario } from "../simulator/scenarios/stalledWork.ts";
import { createJudge, type JudgedPart } from "../simulator/truthRecord/judge.ts";
import { startAt, sum, sumBy } from "./accounting.ts";
import { recommendationsNow } from "./advice/closedLoop.ts";

const minute = 60;
/** Work hangs after an hour of running; a quarter of an hour later it is stalled. */
const minutes = 135;

/** Of each team: the most GPUs that were stalled in any cycle, as Fairlead and as the simulator has it. */
const most = new Map<string, { found: number; truth: number }>();
/** Cycles in which the two did not agree, by team. */
const differing = new Map<string, number>();
const advised = new Map<string, Recommendation>();
let play: MemoryPlay;

function stalledByTeam(parts: readonly JudgedPart[]): ReadonlyMap<string, number> {
  const stalled = parts.filter(({ state }) => state === "stalled");
  return sumBy(
    stalled,
    ({ team }) => team ?? "",
    ({ gpus }) => gpus,
  );
}

function noteStates(truth: ReadonlyMap<string, number>): void {
  for (const { team, states, allocated } of play.stack.cycle.latest()?.teams ?? []) {
    const one = { found: states.stalled ?? 0, truth: truth.get(team) ?? 0 };
    const known = most.get(team) ?? { found: 0, truth: 0 };
    most.set(team, { found: Math.max(known.found, one.found), truth: Math.max(known.truth, one.truth) });
    if (one.found !== one.truth) differing.set(team, (differing.get(team) ?? 0) + 1);
    expect(Math.abs(sum(Object.values(states)) - allocated), `${team} adds up`).toBeLessThan(1e-9);
  }
}

beforeAll(async () => {
  const scenario = stalledWorkScenario();
  const config = configSchema.parse({
    cluster: "hung",
    interval: minute,
    teams: [{ from: "namespace-label", key: "team" }],
    advice: { standingCycles: 2 },
  });
  play = await playInMemory({ scenario, seed: 5, startAt, config });
  const judge = createJudge(scenario, "fairlead.dev/warm-pool");
  for (let cycle = 0; cycle < minutes; cycle++) {
    await play.step(minute);
    noteStates(stalledByTeam(judge.look(play.cluster.truth()).parts));
    for (const one of recommendationsNow(play)) if (one.stalledSince !== undefined) advised.set(one.id, one);
  }
}, 300_000);

afterAll(() => play.stop());

describe("work that hangs", () => {
  it("is stalled a quarter of an hour later, with all of its GPUs", () => {
    for (const [team, gpus] of [
      ["gang", 16],
      ["alone", 8],
      ["server", 8],
    ] as const) {
      expect(most.get(team), team).toEqual({ found: gpus, truth: gpus });
      // A sample is up to a cycle older than the moment in which it is read.
      expect(differing.get(team) ?? 0, team).toBeLessThanOrEqual(2);
    }
  });

  it("is never what is busy in another way, or cannot be known", () => {
    for (const team of ["memory", "mover", "solver", "pauses", "dark", "shared", "mig"])
      expect(most.get(team)?.found, team).toBe(0);
    // It hangs indeed, and its exporter has no profiling fields.
    expect(most.get("dark")?.truth).toBe(8);
  });

  it("adds up to all GPUs", () => {
    expect(play.stack.problems().map(({ code }) => code)).not.toContain("accounts-do-not-close");
    expect(play.stack.cycle.health().cycles.failed).toBe(0);
  });

  it("is asked of its owner once for each work, and stops nothing", () => {
    expect([...advised.values()].map(({ targets }) => targets).sort()).toEqual([
      [expect.stringMatching(/^Job alone\/finetune/)],
      [expect.stringMatching(/^PyTorchJob gang\/rank/)],
    ]);
    for (const one of advised.values()) {
      expect(one).toMatchObject({ kind: "release_idle", act: "ask", steps: [] });
      expect(one.questions).toHaveLength(1);
      expect(JSON.stringify(one)).not.toMatch(/kubectl|"verb"|suspend/);
    }
  });

  it("says since when, by which signals, and what a restart would undo", () => {
    const gang = [...advised.values()].find(({ fromTeam }) => fromTeam === "gang");
    const alone = [...advised.values()].find(({ fromTeam }) => fromTeam === "alone");
    expect(gang?.title).toMatch(
      /^ask team gang to restart gang\/rank\S* if it hangs: 16 H100\S* look busy and compute nothing since/,
    );
    expect(gang?.reason).toMatch(/with 2 pods/);
    expect(gang?.questions[0]?.question).toMatch(/If it hangs, please restart it from its last checkpoint\./);
    expect(gang?.questions[0]?.facts.join("\n")).toMatch(/GPU_UTIL 100 %, .*tensor pipe 0 %, DRAM 0\.1 %, power 133 W/);
    // Its last checkpoint is of half an hour before it hung; the other made none and would lose all since its start.
    const now = play.cluster.truth().at;
    const since = (one: Recommendation | undefined) => (now - (one?.computedAt ?? now)) / 3600;
    expect(gang?.cost).toMatchObject({ pods: 2, gangs: 1, isUpperBound: false });
    expect(alone?.cost).toMatchObject({ pods: 1, isUpperBound: true });
    const restart = (gpus: number): number => (gpus * 10) / 60;
    const running = minutes / 60;
    expect(alone?.cost.lostGpuHours ?? 0).toBeCloseTo(8 * (running - since(alone)) + restart(8), -1);
    expect(gang?.cost.lostGpuHours ?? 0).toBeLessThan(16 * (running - 0.9) + restart(16));
  });
});
