import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wastePlay } from "../../cli/demo/demoPlay.ts";
import { type MemoryPlay, playInMemory } from "../../cli/demo/playInMemory.ts";
import { type WastedGpus, type WastedWork, wastedWork } from "../../cli/demo/waste/wastedWork.ts";
import { wasteText } from "../../cli/demo/waste/wasteText.ts";
import { run } from "../../cli/run.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { noAdvice } from "../../exporter/model/recommendation.ts";
import { plainTerminal } from "../../exporter/publish/terminal/layout.ts";
import { wasteFaults, wasteScenario, wasteTimes, wasteWork } from "../../simulator/scenarios/waste.ts";
import { createSimulatedCluster } from "../../simulator/simulatedCluster.ts";
import { captureIo } from "../cli/captureIo.ts";
import { createJudge } from "../simulator/truthRecord/judge.ts";
import { expectClosedAccounts, startAt, sum, sumBy } from "./accounting.ts";
import { recommendationsNow } from "./advice/closedLoop.ts";

const { settings, scenario, historySeconds } = wastePlay();
const config = configSchema.parse(settings);
const { interval } = config;
const hour = 3600;

/** The first screen has to be right, and so does what comes after it. */
const seconds = (historySeconds ?? 0) + 15 * 60;
/** What a p5.48xlarge costs by the GPU, USD per hour. */
const perGpuHour = 55.04 / 8;

const { stalled, dark, sick } = wasteWork;
const twins = [wasteWork.memoryBound, wasteWork.rarelyAsked, wasteWork.blamed];
const wastedStates: ReadonlySet<string> = new Set(["stalled", "idle", "unavailable"]);

let play: MemoryPlay;
let first: WastedWork;
/** Of each team and state: the GPU-seconds that the simulator has, or that follow from when it began. */
const truth = new Map<string, number>();
/** Teams and workloads that any advice named, at any time. */
const advised = new Set<string>();

const analysisNow = () => {
  const analysis = play.stack.cycle.latest();
  if (analysis === null) throw new Error("no cycle was completed");
  return analysis;
};
const wastedNow = (): WastedWork => wastedWork(analysisNow(), play.stack.latest()?.advice ?? noAdvice, config);

/** When the dark server got its last request, and two hours later. */
function darkSince(): number {
  const work = play.cluster.truth().works.find(({ name }) => name === dark.name);
  return (work?.startedAt ?? Number.NaN) + wasteTimes.lastRequest + 2 * hour;
}

beforeAll(async () => {
  play = await playInMemory({ scenario, seed: 1, startAt, config });
  const judge = createJudge(scenario, "fairlead.dev/warm-pool");
  await play.step(0);
  for (let at = interval; at <= seconds; at += interval) {
    const { parts } = judge.look(play.cluster.truth());
    for (const { team, state, gpus } of parts.filter(
      (part) => part.state === "stalled" || part.state === "unavailable",
    ))
      truth.set(`${team} ${state}`, (truth.get(`${team} ${state}`) ?? 0) + gpus * interval);
    await play.step(interval);
    expectClosedAccounts(analysisNow());
    for (const { fromTeam, targets } of recommendationsNow(play))
      for (const name of [fromTeam, ...targets]) advised.add(name);
    if (at === historySeconds) first = wastedNow();
  }
  truth.set(`${dark.team} idle`, 4 * (play.cluster.now() - darkSince()));
}, 120_000);

afterAll(() => play.stop());

const of = (state: string): WastedGpus => {
  const found = first.wasted.filter((one) => one.state === state);
  expect(found, state).toHaveLength(1);
  if (found[0] === undefined) throw new Error(`nothing is ${state}`);
  return found[0];
};

describe("the first screen names", () => {
  it("the stalled job, what it costs, and that its owner is asked to restart it from its checkpoint", () => {
    const { advice, explained, costPerHour, ...named } = of("stalled");
    expect(named).toEqual({
      state: "stalled",
      reasons: [],
      team: stalled.team,
      workload: `${stalled.team}/${stalled.name}`,
      gpus: 8,
    });
    expect([...costPerHour]).toEqual([["USD", expect.closeTo(8 * perGpuHour, 9)]]);
    expect(explained.join()).toMatch(/^on h100-01: it looks busy and computes nothing for 39 min/);
    expect(advice).toEqual([expect.stringMatching(/^ask team vision to restart vision\/pretrain if it hangs/)]);
    const question = recommendationsNow(play).find(({ stalledSince }) => stalledSince !== undefined)?.questions[0];
    expect(question?.question).toContain("please restart it from its last checkpoint");
  });

  it("the dark server, by its requests, and that its owner is asked about it", () => {
    const { advice, explained, costPerHour, ...named } = of("idle");
    expect(named).toEqual({
      state: "idle",
      reasons: ["no-requests"],
      team: dark.team,
      workload: `${dark.team}/${dark.name}`,
      gpus: 4,
    });
    expect([...costPerHour]).toEqual([["USD", expect.closeTo(4 * perGpuHour, 9)]]);
    expect(explained.join()).toMatch(/^on h100-03: no request came for 2 h/);
    expect(advice).toEqual([expect.stringMatching(/^ask team chat about 4 idle .* no request came since/)]);
  });

  it("the sick GPU, by its error, with the drain of its node first", () => {
    const { node, code } = wasteFaults.sick;
    const { advice, explained, costPerHour, ...named } = of("unavailable");
    expect(named).toEqual({
      state: "unavailable",
      reasons: ["ecc"],
      team: sick.team,
      workload: `${sick.team}/${sick.name}`,
      gpus: 1,
    });
    expect([...costPerHour]).toEqual([["USD", expect.closeTo(perGpuHour, 9)]]);
    const uuid = play.cluster.truth().physicalGpus.find(({ healthy }) => !healthy)?.uuid;
    expect(explained).toEqual([
      `${uuid} of ${node}: the device cannot be used: a memory error (its last XID error is ${code})`,
    ]);
    expect(advice).toEqual([
      expect.stringMatching(/^drain node h100-04: a memory error on 1 of its 8/),
      expect.stringMatching(/^ask team weather to restart weather\/forecast elsewhere/),
    ]);
  });

  it("nothing else, in 80 columns and on one screen", () => {
    expect(first).toMatchObject({ allocated: 40, wasted: { length: 3 } });
    const lines = wasteText(first, { ...plainTerminal, columns: 80 }).split("\n");
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.length).toBeLessThanOrEqual(20);
    expect(lines[0]).toBe(`WASTED GPUS: 13.0 of 40.0 that are allocated, 13.0 GPU-hours and $ 89.44 an hour`);
    for (const { team, name } of twins) expect(lines.join("\n")).not.toMatch(new RegExp(`\\b(${team}|${name})\\b`));
  });
});

describe("over the whole play", () => {
  /** What the page has counted, GPU-seconds by team and state. */
  function counted(): ReadonlyMap<string, number> {
    const family = play.stack.latest()?.families.find(({ name }) => name === "fairlead_gpu_seconds_total");
    const [team, state] = ["team", "state"].map((label) => family?.labelNames.indexOf(label) ?? -1);
    return sumBy(
      family?.series ?? [],
      ({ labelValues }) => `${labelValues[team ?? -1]} ${labelValues[state ?? -1]}`,
      ({ value }) => value,
    );
  }

  it("GPUs are wasted for as long as the simulator has it, to two cycles", () => {
    const wasted = [...counted()].filter(([key, value]) => wastedStates.has(key.split(" ")[1] ?? "") && value > 0);
    expect(wasted.map(([key]) => key).sort()).toEqual([...truth.keys()].sort());
    const gpus: Readonly<Record<string, number>> = { [stalled.team]: 8, [dark.team]: 4, [sick.team]: 1 };
    for (const [key, value] of wasted) {
      const most = 2 * interval * (gpus[key.split(" ")[0] ?? ""] ?? 0);
      expect(Math.abs(value - (truth.get(key) ?? 0)), key).toBeLessThanOrEqual(most);
      expect(value, key).toBeGreaterThan(10 * 60 * (gpus[key.split(" ")[0] ?? ""] ?? 0));
    }
  });

  it("no twin is advised about, although each does what resembles waste", () => {
    const names = [...advised].join("\n");
    for (const { team, name } of twins) expect(names).not.toMatch(new RegExp(`\\b(${team}|${name})\\b`));
    for (const { team, name } of [stalled, dark, sick]) expect(names).toMatch(new RegExp(`${team}/${name}`));
    const { devices } = analysisNow().snapshot;
    const [memoryBound, rarelyAsked, blamed] = twins.map(({ team }) => devicesOf(team));
    expect(memoryBound).toHaveLength(8);
    // A hang draws 133 W, a fifth of the way to full power is 196 W.
    for (const device of memoryBound ?? []) expect(devices[device]?.reading?.powerWatts).toBeLessThan(196);
    expect(rarelyAsked).toHaveLength(4);
    const served = play.stack.cycle.servedWork().find(({ namespace }) => namespace === wasteWork.rarelyAsked.team);
    expect(served?.requests).toBeGreaterThan(100);
    expect(blamed?.map((device) => devices[device]?.reading?.lastXid ?? 0)).toContain(wasteFaults.blamed.code);
  });

  function devicesOf(team: string): readonly number[] {
    const { accountingEntries, snapshot } = analysisNow();
    const own = accountingEntries.list.filter(({ pod }) => pod !== null && snapshot.pods[pod]?.team === team);
    return [...new Set(own.flatMap(({ device }) => device ?? []))];
  }

  it("the sums close: all 40 GPUs at all times", () => {
    const all = sum(counted().values());
    expect(Math.abs(all - 40 * seconds)).toBeLessThan(1e-6 * all);
    expect(play.stack.problems().map(({ code }) => code)).not.toContain("accounts-do-not-close");
    expect(play.stack.cycle.health().cycles.failed).toBe(0);
  });
});

it("faults are on GPUs of the work that is meant, whatever the seed", () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const cluster = createSimulatedCluster({ scenario: wasteScenario(), seed, startAt });
    cluster.advance(120);
    for (const [work, { node }] of Object.entries(wasteFaults)) {
      const held = cluster.truth().physicalGpus.filter((gpu) => gpu.node === node);
      const team = work === "sick" ? sick.team : wasteWork.blamed.team;
      expect(held.map(({ holders }) => holders[0]?.team)).toEqual(Array.from({ length: 8 }, () => team));
    }
  }
});

it("npm run demo -- --scenario waste --once shows it, and checks it against the simulator", async () => {
  const io = captureIo();
  expect(await run(["demo", "--scenario", "waste", "--once"], io), io.stderr()).toBe(0);
  const lines = io.stdout().split("\n");
  expect(lines[0]).toMatch(/^WASTED GPUS: 13\.0 of 40\.0/);
  expect(io.stdout()).toMatch(/\nFairlead {2}cluster waste .*\n(?:.*\n)*WHO HOLDS WHAT/);
  expect(io.stdout()).toMatch(/\nchecked: \d+ numbers .* equal the simulator's truth\n/);
});
