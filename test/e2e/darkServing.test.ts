import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MemoryPlay, playInMemory } from "../../cli/demo/playInMemory.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import type { Recommendation } from "../../exporter/model/recommendation.ts";
import { explain } from "../../exporter/publish/explain/explain.ts";
import { darkServingScenario } from "../../simulator/scenarios/darkServing.ts";
import { startAt, sum } from "./accounting.ts";
import { recommendationsNow } from "./advice/closedLoop.ts";

const minute = 60;
/** Requests end after an hour; two hours later their servers are idle. */
const minutes = 4 * 60;

/** Of each team: the cycle in which it was first idle, with all the reasons that were seen. */
const first = new Map<string, number>();
const reasons = new Map<string, Set<string>>();
const advised = new Map<string, Recommendation>();
let play: MemoryPlay;

function note(cycle: number): void {
  const analysis = play.stack.cycle.latest();
  for (const { team, states, allocated } of analysis?.teams ?? []) {
    expect(Math.abs(sum(Object.values(states)) - allocated), `${team} adds up`).toBeLessThan(1e-9);
    if ((states.idle ?? 0) > 0 && !first.has(team)) first.set(team, cycle);
  }
  for (const { state, pod, idleReason = "no-activity" } of analysis?.accountingEntries.list ?? []) {
    const team = pod === null ? undefined : analysis?.snapshot.pods[pod]?.team;
    if (state === "idle" && team !== undefined) reasons.set(team, (reasons.get(team) ?? new Set()).add(idleReason));
  }
  for (const one of recommendationsNow(play)) advised.set(one.id, one);
}

beforeAll(async () => {
  const scenario = darkServingScenario();
  const config = configSchema.parse({
    cluster: "dark",
    interval: minute,
    teams: [{ from: "namespace-label", key: "team" }],
    serving: { discovery: [{ namespaces: scenario.namespaces.map(({ name }) => name) }] },
    advice: { standingCycles: 2, askReturnProbability: 1 },
  });
  play = await playInMemory({ scenario, seed: 5, startAt, config });
  for (let cycle = 0; cycle < minutes; cycle++) {
    await play.step(minute);
    note(cycle);
  }
}, 300_000);

afterAll(() => play.stop());

const explained = (name: string): string => {
  const analysis = play.stack.cycle.latest();
  if (analysis === null) throw new Error("no cycle");
  const workload = analysis.snapshot.workloads.find(({ namespace }) => namespace === name);
  const key = `${name}/${workload?.kind}/${workload?.name}`;
  const found = explain("workload", key, {
    analysis,
    settings: configSchema.parse({}),
    problems: [],
    accountedTime: null,
    servedWork: play.stack.cycle.servedWork(),
  });
  return JSON.stringify(found);
};

describe("servers without requests", () => {
  it("are idle two hours after the last request, whatever their kernels do", () => {
    for (const team of ["dark", "spread", "asleep"]) {
      // The last of rare requests came up to a minute before they ended.
      expect(first.get(team), team).toBeGreaterThanOrEqual(179);
      expect(first.get(team), team).toBeLessThanOrEqual(184);
    }
    expect(play.stack.cycle.latest()?.teams.find(({ team }) => team === "spread")?.states).toEqual({ idle: 8 });
  });

  it("say why: no requests, or that they sleep besides", () => {
    expect([...(reasons.get("dark") ?? [])]).toEqual(["no-requests"]);
    expect([...(reasons.get("spread") ?? [])]).toEqual(["no-requests"]);
    expect([...(reasons.get("asleep") ?? [])]).toEqual(["asleep"]);
  });

  it("are never those with requests, with short ones, without a counter or a page, with a dead engine, or that do not serve", () => {
    for (const team of ["busy", "short", "gauges", "pageless", "dead", "offline"])
      expect(first.has(team), team).toBe(false);
  });

  it("are explained: since when, and by which counter", () => {
    expect(explained("dark")).toMatch(
      /none for (?:3 h|2 h 59 min).*the counter of sglang has stood still at 7192 requests/,
    );
    expect(explained("spread")).toMatch(/by the page of pod large\S* of its gang/);
    expect(explained("asleep")).toMatch(/its engines sleep, their weights off the GPU/);
    expect(explained("gauges")).toMatch(/does not count the requests that have ended/);
    expect(explained("pageless")).toMatch(/no page of a server in this pod is read/);
    expect(explained("busy")).toMatch(/8 run, 0 wait/);
  });

  it("are asked of their owner, with the reason in the words", () => {
    const dark = [...advised.values()].find(({ fromTeam }) => fromTeam === "dark");
    expect(dark).toMatchObject({ kind: "release_idle", act: "ask", steps: [] });
    expect(dark?.title).toMatch(/no request came since/);
    expect([...advised.values()].map(({ fromTeam }) => fromTeam)).not.toContain("busy");
  });
});

describe("what was served", () => {
  it("is counted by team, and adds up to what the servers count", () => {
    const counters = play.stack.cycle.servedWork();
    const busy = counters.find(({ namespace }) => namespace === "busy");
    expect(busy?.requests).toBeGreaterThan(2 * 60 * (minutes - 4));
    expect(busy?.requests).toBeLessThanOrEqual(2 * 60 * minutes);
    expect(busy?.generatedTokens).toBe((busy?.requests ?? 0) * 200);
    expect(busy?.gpuSeconds).toBeCloseTo(4 * 60 * (minutes - 2), -3);
    expect(explained("busy")).toMatch(/generated tokens per GPU-hour/);
  });

  it("costs nobody the accounts", () => {
    expect(play.stack.problems().map(({ code }) => code)).not.toContain("accounts-do-not-close");
    expect(play.stack.cycle.health().cycles.failed).toBe(0);
  });
});
