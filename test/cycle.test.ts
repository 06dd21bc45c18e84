import { describe, expect, it } from "vitest";
import { type Adviser, createAdviser } from "../exporter/advice/adviser.ts";
import { parseConfig } from "../exporter/config/load.ts";
import { createCycle } from "../exporter/cycle.ts";
import type { Advice } from "../exporter/model/recommendation.ts";
import type { Health } from "../exporter/publish/health.ts";
import type { KubernetesState } from "../exporter/sources/kubernetes/state.ts";
import type { Source } from "../exporter/sources/port.ts";
import { cluster, gpuNode, now } from "./join/clusterBuilder.ts";
import { someAdvice } from "./publish/someAdvice.ts";

function fixed<State>(name: string, state: State): Source<State> {
  return {
    name,
    start: async () => {},
    stop: async () => {},
    read: () => state,
    freshness: () => [],
    problems: () => [],
  };
}

/** A cycle of a small cluster with that adviser, and what it published. */
function cycleWith(adviser: Adviser) {
  const parsed = parseConfig("cluster: test");
  if (!parsed.ok) throw new Error(parsed.errors[0]?.message);
  const published: { readonly advice: Advice; readonly health: Health; readonly nodes: number }[] = [];
  const kept: number[] = [];
  let passed = 0;
  const objects: KubernetesState = {
    ...cluster({ nodes: [gpuNode("n1", 8)] }),
    exporterPods: [],
    resourceVersions: {},
    podCount: 0,
  };
  const cycle = createCycle({
    config: parsed.value,
    version: "test",
    kubernetes: fixed("kubernetes", objects),
    dcgm: [fixed("dcgm", { pages: [], targets: 0, targetsUp: 0 })],
    now: () => now + passed,
    monotonic: () => passed,
    adviser,
    onStep: async () => void kept.push(passed),
    publish: async ({ snapshot }, health, _accounts, advice) => {
      published.push({ advice, health, nodes: snapshot.nodes.length });
    },
  });
  const run = async () => {
    passed += parsed.value.interval;
    await cycle.run();
  };
  return { run, published, kept, cycle };
}

describe("a cycle in which the making of advice fails", () => {
  const broken: Adviser = {
    advise() {
      throw new TypeError("no such queue");
    },
    latest: () => someAdvice,
    dismiss: () => false,
    take: () => false,
    receive: createAdviser({ ...advisedNever() }, 30).receive,
    takeChanges: () => [],
    takeWithheld: () => [],
    takeHabits: () => new Map(),
  };

  it("publishes and counts everything else, with a problem that says so", async () => {
    const { run, published, kept, cycle } = cycleWith(broken);
    await run();
    await run();
    expect(published).toHaveLength(2);
    expect(kept).toHaveLength(1);
    const last = published[1];
    expect(last?.nodes).toBe(1);
    expect(last?.health.cycles).toEqual({ ok: 2, failed: 0 });
    expect(last?.health.problems.filter(({ severity }) => severity === "error")).toMatchObject([
      { code: "advice-failed", message: expect.stringContaining("TypeError: no such queue") },
    ]);
    expect(cycle.health().problems[0]?.code).toBe("advice-failed");
  });

  it("keeps what was advised before", async () => {
    const { run, published } = cycleWith(broken);
    await run();
    expect(published[0]?.advice).toBe(someAdvice);
  });
});

it("a cycle without a fault in its advice has none to report", async () => {
  const { run, published } = cycleWith(createAdviser(advisedNever(), 30));
  await run();
  expect(published[0]?.health.problems.filter(({ code }) => code === "advice-failed")).toEqual([]);
  expect(published[0]?.advice.withheld).toContainEqual({
    kind: "reclaim",
    subject: "",
    why: "disabled",
    reason: "advice.enabled is false",
  });
});

function advisedNever() {
  const parsed = parseConfig("advice: {enabled: false}");
  if (!parsed.ok) throw new Error(parsed.errors[0]?.message);
  return parsed.value.advice;
}
