import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MemoryPlay, playInMemory } from "../../cli/demo/playInMemory.ts";
import { stalledParts, stallSuspects, suspectPods } from "../../exporter/analysis/stalledParts.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { stallShapesScenario, stallTeams } from "../simulator/scenarios/stallShapes.ts";
import { startAt, sum } from "./accounting.ts";

const minute = 60;
/** Work hangs after half an hour; a quarter of an hour later it is stalled. */
const minutes = 80;

/** Of each team: the most GPUs that were stalled, the minute in which they first were, and all causes that were seen. */
const most = new Map<string, number>();
const first = new Map<string, number>();
const idle = new Map<string, number>();
const causes = new Map<string, Set<string>>();
let play: MemoryPlay;

function note(cycle: number): void {
  const analysis = play.stack.cycle.latest();
  if (analysis === null) throw new Error("no cycle was completed");
  const { pods } = analysis.snapshot;
  for (const { team, states, allocated } of analysis.teams) {
    const stalled = states.stalled ?? 0;
    most.set(team, Math.max(most.get(team) ?? 0, stalled));
    idle.set(team, Math.max(idle.get(team) ?? 0, states.idle ?? 0));
    if (stalled > 0 && !first.has(team)) first.set(team, cycle);
    expect(Math.abs(sum(Object.values(states)) - allocated), `${team} adds up`).toBeLessThan(1e-9);
  }
  for (const { pool, states, physicalGpus } of analysis.pools)
    expect(Math.abs(sum(Object.values(states)) - physicalGpus), `${pool} adds up`).toBeLessThan(1e-9);
  for (const { pod, cause } of analysis.accountingEntries.list) {
    const team = pod === null ? undefined : pods[pod]?.team;
    if (team !== undefined && cause !== undefined) causes.set(team, (causes.get(team) ?? new Set()).add(cause));
  }
}

beforeAll(async () => {
  const config = configSchema.parse({
    cluster: "shapes",
    interval: minute,
    teams: [{ from: "namespace-label", key: "team" }],
    advice: { enabled: false },
  });
  play = await playInMemory({ scenario: stallShapesScenario(), seed: 5, startAt, config });
  for (let cycle = 0; cycle < minutes; cycle++) {
    await play.step(minute);
    note(cycle);
  }
}, 300_000);

afterAll(() => play.stop());

/** Teams whose work hangs, and the GPUs of those of its pods that spin. */
const stalled: Readonly<Record<string, number>> = { hung: 2, "hung-all": 2, "hung-capped": 2, silent: 4, computes: 4 };

describe("a GPU that looks busy and computes nothing", () => {
  it.each(Object.entries(stalled))("of team %s is stalled a quarter of an hour after it hung", (team, gpus) => {
    expect(most.get(team)).toBe(gpus);
    expect(first.get(team)).toBeGreaterThanOrEqual(44);
    expect(first.get(team)).toBeLessThanOrEqual(48);
  });
});

describe("a GPU that only resembles it, or about which nobody knows", () => {
  it.each(stallTeams.filter((team) => stalled[team] === undefined))("of team %s is not", (team) => {
    expect(most.get(team)).toBe(0);
  });
});

it("the zeros of a locked profiler are no idleness on the instances of a GPU that is cut, and those of idle ones are", () => {
  expect(idle.get("cut")).toBe(0);
  // Three times two of seven slices.
  expect(idle.get("cut-idle")).toBeCloseTo(6 / 7, 9);
  expect(play.stack.problems().map(({ code, subject }) => `${code} ${subject}`)).toContain("profiling-broken cut-01");
});

describe("GPUs that are held back", () => {
  it.each([
    ["heat", "thermal"],
    ["hung-heat", "thermal"],
    ["brake", "power"],
    ["slowdown", "hardware_slowdown"],
  ])("of team %s are slowed down: %s", (team, cause) => {
    expect([...(causes.get(team) ?? [])]).toEqual([cause]);
  });

  it("are not by a power limit that work reaches, and no other team's are", () => {
    expect([...causes.keys()].sort()).toEqual(["brake", "heat", "hung-heat", "slowdown"]);
  });
});

describe("the one of a gang that differs", () => {
  it.each([
    ["silent", "quiet"],
    ["computes", "computing"],
  ])("of team %s is named, for the others wait for it", (team, how) => {
    const snapshot = play.stack.cycle.latest()?.snapshot;
    if (snapshot === undefined) throw new Error("no cycle was completed");
    const own = snapshot.pods.flatMap((pod, index) => (pod.team === team ? [index] : []));
    const devicesOf = (pod: number) =>
      snapshot.devices.flatMap(({ holders }, place) => (holders.some((one) => one.pod === pod) ? [place] : []));
    const suspects = stallSuspects(stalledParts(snapshot, own, devicesOf));
    expect(suspects).toMatchObject({ how, gpus: 2 });
    const truth = play.cluster.truth().physicalGpus.flatMap(({ holders }) => holders);
    const different = truth.find((holder) => holder.team === team && !holder.hangs);
    expect(suspects === null ? "" : suspectPods(snapshot, suspects)).toContain(`${different?.pod} on `);
  });
});

it("adds up to all GPUs", () => {
  expect(play.stack.problems().map(({ code }) => code)).not.toContain("accounts-do-not-close");
  expect(play.stack.cycle.health().cycles.failed).toBe(0);
});
