import { afterEach, describe, expect, it } from "vitest";
import type { StageRunner } from "../../exporter/cycle.ts";
import type { CycleStage } from "../../exporter/publish/health.ts";
import { sumOnPage } from "./faults/metricsOnPage.ts";
import { type WatchedCluster, watchDemoCluster } from "./faults/watchedCluster.ts";

let watched: WatchedCluster | null = null;
afterEach(async () => {
  await watched?.stop();
  watched = null;
});

const metricsOf = async ({ get }: WatchedCluster): Promise<string> => (await get("/metrics")).text;
const linesOf = ({ lines }: WatchedCluster, problem: string): readonly string[] =>
  lines.filter(({ fields }) => fields.problem === problem).map(({ level }) => level);

describe("when no cycle runs any more, or the clock is set", () => {
  it("only Fairlead's own health is served after three intervals, and /livez fails after ten", async () => {
    const now = await watchDemoCluster({ isApiInOrder: true });
    watched = now;
    const { simulator } = now.cluster;
    simulator.advance(90);
    expect(await metricsOf(now)).toMatch(/^fairlead_gpus\{/m);
    simulator.advance(1);
    const page = await metricsOf(now);
    expect(page).toMatch(/^fairlead_last_cycle_timestamp_seconds\{/m);
    expect(page).toMatch(/^fairlead_source_up\{/m);
    expect(page).not.toMatch(/^fairlead_(gpus|team_gpus|gpu_seconds_total|covered_seconds_total|pool_info)\b/m);
    expect((await now.get("/")).text).toContain("These numbers are 91 s old.");
    expect((await now.get("/livez")).status).toBe(200);
    simulator.advance(210);
    expect((await now.get("/livez")).status).toBe(503);
    // The step that ends it is too long to be counted.
    await now.step();
    expect(now.cluster.stack.problems().map(({ code }) => code)).toContain("step-too-long");
    await now.recover();
    expect(sumOnPage(await metricsOf(now), 'fairlead_uncovered_seconds_total{reason="too-long"}')).toBe(331);
    expect(now.differences()).toEqual([]);
    expect((await now.get("/livez")).status).toBe(200);
    expect(linesOf(now, "step-too-long")).toEqual(["warn", "info"]);
  });

  it("a wall clock that is set meanwhile makes no page young, and none old", async () => {
    const now = await watchDemoCluster({ isApiInOrder: true });
    watched = now;
    const { simulator } = now.cluster;
    const setAhead = simulator.fault({ kind: "clock-jump", seconds: 7200 });
    expect(await metricsOf(now)).toMatch(/^fairlead_gpus\{/m);
    expect((await now.get("/livez")).status).toBe(200);
    setAhead();
    simulator.fault({ kind: "clock-jump", seconds: -7200 });
    simulator.advance(91);
    expect(await metricsOf(now)).not.toMatch(/^fairlead_gpus\{/m);
  });

  it("no GPU becomes idle by a clock that is set ahead", async () => {
    const now = await watchDemoCluster({ isApiInOrder: true });
    watched = now;
    now.cluster.simulator.fault({ kind: "clock-jump", seconds: 7200 });
    for (let i = 0; i < 2; i++) await now.step();
    const page = await metricsOf(now);
    expect(sumOnPage(page, 'fairlead_gpus{state="underutilized"}') ?? 0).toBeGreaterThan(1);
    expect(sumOnPage(page, 'fairlead_gpus{state="idle"}') ?? 0).toBe(0);
  });

  it("a dead exporter's page does not become young again when the clock is set back", async () => {
    const now = await watchDemoCluster({ isApiInOrder: true });
    watched = now;
    now.cluster.simulator.fault({ kind: "exporter-error", target: { node: "h100-01" } });
    now.cluster.simulator.fault({ kind: "clock-jump", seconds: -7200 });
    for (let i = 0; i < 5; i++) await now.step();
    expect(sumOnPage(await metricsOf(now), 'fairlead_targets{state="stale"}')).toBe(1);
  });
});

describe.each(["join", "publish"] as const)("when stage %s of the cycle fails", (broken) => {
  it("the last answers stay until they are too old, one line says why, and the truth comes back", async () => {
    let failing: CycleStage | null = null;
    const runStage: StageRunner = async (stage, work) => {
      if (stage === failing) throw new TypeError("out of order\n\u001b[31mred");
      return await work();
    };
    const now = await watchDemoCluster({ runStage, isApiInOrder: true });
    watched = now;
    const before = await metricsOf(now);
    const publishedAt = now.cluster.stack.latest()?.at;
    failing = broken;
    for (let i = 0; i < 3; i++) await now.step();
    expect(now.cluster.stack.latest()?.at).toBe(publishedAt);
    expect(await metricsOf(now)).toBe(before);
    expect(now.cluster.stack.problems().map(({ code }) => code)).toContain("cycle-failed");
    const start = (await now.get("/")).text;
    expect(start).toContain("the answers before it stay until they are too old");
    expect(start).toContain("Next: This is a fault in Fairlead");
    for (let i = 0; i < 2; i++) await now.step();
    const old = await metricsOf(now);
    expect(old).not.toMatch(/^fairlead_(gpus|gpu_seconds_total)\{/m);
    expect(sumOnPage(old, 'fairlead_cycles_total{result="failed"}')).toBe(5);
    expect(sumOnPage(old, 'fairlead_cycles_total{result="ok"}')).toBe(
      sumOnPage(before, 'fairlead_cycles_total{result="ok"}'),
    );
    expect(sumOnPage(old, 'fairlead_problems{code="cycle-failed"}')).toBe(1);
    expect(linesOf(now, "cycle-failed")).toEqual(["warn"]);
    for (let i = 0; i < 6; i++) await now.step();
    expect((await now.get("/livez")).status).toBe(503);
    failing = null;
    await now.recover();
    expect(linesOf(now, "cycle-failed")).toEqual(["warn", "info"]);
    for (const { message } of now.lines) expect(message).not.toMatch(/\p{Cc}/u);
    expect(now.differences()).toEqual([]);
    expect(now.cluster.stack.problems()).toEqual([]);
    expect(await metricsOf(now)).toMatch(/^fairlead_gpus\{/m);
    expect((await now.get("/livez")).status).toBe(200);
  });
});
