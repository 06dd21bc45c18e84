import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MemoryPlay, playInMemory } from "../../cli/demo/playInMemory.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import type { Recommendation } from "../../exporter/model/recommendation.ts";
import { explain } from "../../exporter/publish/explain/explain.ts";
import { lateServingScenario } from "../../simulator/scenarios/lateServing.ts";
import { startAt } from "./accounting.ts";
import { recommendationsNow } from "./advice/closedLoop.ts";

const minute = 60;
const minutes = 75;

const advised = new Map<string, Recommendation>();
const wasShort = new Set<string>();
let play: MemoryPlay;

beforeAll(async () => {
  const scenario = lateServingScenario();
  const config = configSchema.parse({
    cluster: "late",
    interval: minute,
    teams: [{ from: "namespace-label", key: "team" }],
    serving: {
      discovery: [{ namespaces: ["late", "slow", "quick"] }],
      latencyTargets: [{ firstTokenSeconds: 0.5 }],
    },
    idle: { servingSeconds: 1800 },
    advice: { standingCycles: 2 },
  });
  play = await playInMemory({ scenario, seed: 5, startAt, config });
  for (let cycle = 0; cycle < minutes; cycle++) {
    await play.step(minute);
    const latest = play.stack.cycle.latest();
    for (const { workload, isShort } of latest?.latencies ?? [])
      if (isShort) wasShort.add(latest?.snapshot.workloads[workload]?.team ?? "");
    for (const one of recommendationsNow(play)) advised.set(one.id, one);
  }
}, 300_000);

afterAll(() => play.stop());

const explained = (team: string): string => {
  const analysis = play.stack.cycle.latest();
  const workload = analysis?.snapshot.workloads.find(({ namespace }) => namespace === team);
  if (analysis === null || workload === undefined) throw new Error("no cycle");
  const key = `${team}/${workload.kind}/${workload.name}`;
  const settings = configSchema.parse({});
  return JSON.stringify(explain("workload", key, { analysis, settings, problems: [], accountedTime: null }));
};

describe("servers with a target of latency", () => {
  it("are short of a replica where they are over it while requests wait, and only then", () => {
    expect([...wasShort]).toEqual(["late"]);
  });

  it("are explained: what is measured, the target, and what would help", () => {
    // All lie between 2.5 and 5 seconds: 95 of 100 below 4.875.
    expect(explained("late")).toMatch(
      /4\.88 s, over its target.*one replica more: 4 GPUs.*12 requests wait on its 1 replica/,
    );
    expect(explained("slow")).toMatch(/4\.88 s, over its target/);
    expect(explained("slow")).not.toMatch(/one replica more/);
    expect(explained("quick")).toMatch(/239 ms, within its target/);
  });

  it("are named by advice about idle GPUs as who would gain", () => {
    const unused = [...advised.values()].find(({ fromTeam, kind }) => kind === "release_idle" && fromTeam === "unused");
    expect(unused?.evidence.filter(({ name }) => name === "would gain")).toEqual([
      {
        name: "would gain",
        value: expect.stringMatching(
          /^Deployment late\/chat\S* of team late: over its latency target, 12 requests wait, one replica more takes 4 GPUs$/,
        ),
      },
    ]);
  });
});
