import { describe, expect, test } from "vitest";
import { createAccounting } from "../../exporter/accounts/accounting.ts";
import { costPerMillionTokens, tokensPerGpuHour } from "../../exporter/accounts/servedWork.ts";
import { analyse } from "../../exporter/analysis/analyse.ts";
import { emptyMemory, type Memory } from "../../exporter/join/memory.ts";
import { gpuNode, gpuPod, now, page, reading } from "../join/clusterBuilder.ts";
import { joined, stateSettings } from "../join/outcomes.ts";
import { accounted, momentsOf, pageOf, servingLabel, step } from "./servingMoments.ts";

describe("what servers did", () => {
  const moments = momentsOf([
    { finished: 5, generated: 1000 },
    { finished: 8, generated: 1600 },
    { finished: 2, generated: 400 },
  ]);

  test("is counted by team and pool, from the first look on, and again from the first look after a restart", () => {
    const { requests, tokens } = accounted(moments).counters().serving;
    expect(requests).toEqual([{ labels: { pool: "H100-80GB-HBM3", team: "research" }, value: 3 }]);
    expect(tokens.map(({ labels, value }) => [labels.kind, value])).toEqual([
      ["prompt", 30],
      ["generated", 600],
    ]);
  });

  test("is nothing over a gap", () => {
    expect(accounted(moments, 600).counters().serving.requests).toMatchObject([{ value: 0 }]);
  });

  test("is published as 0 before the first step can add to it", () => {
    expect(accounted(moments.slice(0, 1)).counters().serving.requests).toMatchObject([{ value: 0 }]);
  });
});

describe("what a workload has served for its GPU time", () => {
  test("grows together with the time that it took, from the second look on", () => {
    const [work] = accounted(
      momentsOf([
        { finished: 5, generated: 1000 },
        { finished: 8, generated: 1600 },
        { finished: 20, generated: 4600 },
      ]),
    ).servedWork();
    expect(work).toMatchObject({ namespace: "research", requests: 12, generatedTokens: 3000, gpuSeconds: 2 * step });
    if (work === undefined) return;
    expect(tokensPerGpuHour(work)).toBeCloseTo(3000 / ((2 * step) / 3600), 6);
    const [currency, cost] = [...costPerMillionTokens(work)][0] ?? [];
    expect(cost).toBeCloseTo(((work.costs?.get(currency ?? "") ?? 0) / 3000) * 1e6, 6);
    expect(cost).toBeGreaterThan(0);
  });

  test("is not known of tokens that are not counted, and costs nothing that nobody can divide", () => {
    const counters = [5, 8, 9].map((finished) => ({ finished, generated: null }));
    const [work] = accounted(momentsOf(counters)).servedWork();
    expect(work).toMatchObject({ requests: 1, generatedTokens: null });
    if (work === undefined) return;
    expect(tokensPerGpuHour(work)).toBeNull();
    expect(costPerMillionTokens(work).size).toBe(0);
  });

  test("that generated nothing has no cost per token", () => {
    const still = { finished: 5, generated: 1000 };
    const [work] = accounted(momentsOf([still, still, still])).servedWork();
    if (work === undefined) throw new Error("no work");
    expect(tokensPerGpuHour(work)).toBe(0);
    expect(costPerMillionTokens(work).size).toBe(0);
  });
});

test("idle time by reason adds up to the time in state idle", () => {
  const still = { finished: 5, generated: 1000 };
  // One look each half hour: the states are what matters here.
  let memory: Memory = emptyMemory;
  const accounting = createAccounting({ intervalSeconds: 1800, limits: { teams: 10, series: 50_000 } });
  for (let i = 0; i < 12; i++) {
    const at = now + i * 1800;
    const state = {
      nodes: [gpuNode("n", 4)],
      pods: [gpuPod("chat", "n", 2, { labels: servingLabel }), gpuPod("left", "n", 1)],
      telemetry: [
        page("n", [reading("GPU-0", 1, "chat"), reading("GPU-1", 1, "chat"), reading("GPU-2", 0, "left")], {
          receivedAt: at,
        }),
      ],
      serving: [pageOf(at, still)],
    };
    const found = joined(state, undefined, memory, at);
    memory = found.memory;
    accounting.account(analyse(found.snapshot, stateSettings), { wall: at, monotonic: i * 1800 });
  }
  const { serving, gpuSeconds } = accounting.counters();
  const idle = gpuSeconds.filter(({ labels }) => labels.state === "idle").reduce((sum, { value }) => sum + value, 0);
  const byReason = new Map(serving.idleSeconds.map(({ labels, value }) => [labels.reason, value] as const));
  // Two GPUs from two hours on, until the end of the eleventh step; one that was idle after the first half hour.
  expect(byReason.get("no-requests")).toBe(2 * 7 * 1800);
  expect(byReason.get("no-activity")).toBe(10 * 1800);
  expect([...byReason.values()].reduce((sum, value) => sum + value, 0)).toBeCloseTo(idle, 6);
});

describe("what a ledger remembers of it", () => {
  const moments = momentsOf([
    { finished: 5, generated: 1000 },
    { finished: 8, generated: 1600 },
    { finished: 20, generated: 4600 },
    { finished: 24, generated: 5600 },
    { finished: 25, generated: 6000 },
  ]);
  const options = { intervalSeconds: 60, limits: { teams: 10, series: 50_000 } };
  const rows = new Map<string, { kind: string; key: string; value: string }>();
  const first = createAccounting({ ...options, remembered: [] });
  for (const [i, analysis] of moments.slice(0, 3).entries()) {
    // A minute lies between two writes.
    const step = first.account(analysis, { wall: now + i * 60, monotonic: i * 60 });
    for (const { kind, key, value } of step?.remembered ?? [])
      if (value !== null) rows.set(`${kind} ${key}`, { kind, key, value });
  }

  test("goes on after a restart, without the time in which nobody looked", () => {
    const [before] = first.servedWork();
    expect(before).toMatchObject({ requests: 12, generatedTokens: 3000, gpuSeconds: 2 * 60 });
    const second = createAccounting({ ...options, remembered: [...rows.values()] });
    expect(second.servedWork()).toMatchObject([{ requests: before?.requests, gpuSeconds: before?.gpuSeconds }]);
    for (const [i, analysis] of moments.slice(3).entries())
      second.account(analysis, { wall: now + 180 + i * 60, monotonic: i * 60 });
    expect(second.servedWork()).toMatchObject([
      { requests: before?.requests, generatedTokens: before?.generatedTokens },
    ]);
  });

  test("is left out where a row cannot be read", () => {
    const remembered = [
      { kind: "served", key: "[1]", value: "{}" },
      { kind: "served", key: '["Job","a","b"]', value: '{"team":"t","since":-1}' },
    ];
    expect(createAccounting({ ...options, remembered }).servedWork()).toEqual([]);
  });
});
