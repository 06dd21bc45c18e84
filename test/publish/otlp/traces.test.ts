import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Publication } from "../../../exporter/publish/publication.ts";
import { published, start } from "./publishing.ts";
import { type ReceivedSpan, type Receiver, spansOf, startReceiver } from "./receiver.ts";

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await receiver.close();
});

const received = (): ReceivedSpan[] =>
  receiver.requests.filter(({ path }) => path === "/v1/traces").flatMap((request) => spansOf(request));
const find = (name: string) => {
  const span = received().find((one) => one.name === name);
  if (span === undefined) throw new Error(`no span ${name}`);
  return span;
};

/** What the cycle leaves: nothing before it ran. */
function publishing() {
  let latest: Publication | null = null;
  const done = published().latest();
  const publish = () => {
    latest = done;
  };
  return { source: published({ latest: () => latest }), publish };
}

describe("traces of the cycle", () => {
  test("are one root span with a child for each stage, and the sizes of what it saw", async () => {
    const { source, publish } = publishing();
    const { otlp } = start(receiver.url, { metrics: false }, { published: source });
    await otlp.tracing?.runCycle(async () => {
      for (const stage of ["collect", "join", "analyse", "accrue"] as const)
        await otlp.tracing?.runStage(stage, () => {});
      await otlp.tracing?.runStage("publish", publish);
    });
    await otlp.stop();
    const root = find("cycle");
    expect(root.parentSpanId).toBe("");
    const children = received().filter(({ parentSpanId }) => parentSpanId === root.spanId);
    expect(children.map(({ name }) => name)).toEqual(["collect", "join", "analyse", "accrue", "publish"]);
    expect(new Set(received().map(({ traceId }) => traceId))).toEqual(new Set([root.traceId]));
    const { snapshot, pools } = published().latest()?.analysis ?? { snapshot: null, pools: [] };
    expect(Object.fromEntries(root.attributes)).toEqual({
      "fairlead.nodes": `${snapshot?.nodes.length}`,
      "fairlead.gpus": `${pools.reduce((sum, pool) => sum + pool.physicalGpus, 0)}`,
      "fairlead.pods": `${snapshot?.pods.length}`,
    });
    expect(root.status.code).toBe(0);
  });

  test("of two cycles are two traces", async () => {
    const { otlp } = start(receiver.url, { metrics: false });
    for (let cycle = 0; cycle < 2; cycle++) {
      await otlp.tracing?.runCycle(async () => void (await otlp.tracing?.runStage("collect", () => 1)));
    }
    await otlp.stop();
    const roots = received().filter(({ parentSpanId }) => parentSpanId === "");
    expect(roots.map(({ name }) => name)).toEqual(["cycle", "cycle"]);
    expect(new Set(roots.map(({ traceId }) => traceId)).size).toBe(2);
  });

  test("of a stage that fails carry the exception, and the cycle is an error without sizes", async () => {
    const { otlp } = start(receiver.url, { metrics: false });
    await otlp.tracing?.runCycle(async () => {
      const stage = otlp.tracing?.runStage("join", () => {
        throw new TypeError("no such node");
      });
      await expect(stage).rejects.toThrow("no such node");
    });
    await otlp.stop();
    const join = find("join");
    expect(join.status).toEqual({ code: 2, message: "no such node" });
    expect(join.events[0]?.attributes.get("exception.type")).toBe("TypeError");
    expect(find("cycle").status).toEqual({ code: 2, message: "join failed" });
    expect(find("cycle").attributes.size).toBe(0);
  });

  test("hand the stage's result through", async () => {
    const { otlp } = start(receiver.url, { metrics: false });
    expect(await otlp.tracing?.runStage("collect", async () => 42)).toBe(42);
    await otlp.stop();
  });

  test("can be switched off, by the configuration and by the standard variable", async () => {
    const off = start(receiver.url, { metrics: false, traces: false });
    expect(off.otlp.tracing).toBeNull();
    await off.otlp.stop();
    vi.stubEnv("OTEL_SDK_DISABLED", "true");
    const disabled = start(receiver.url);
    await disabled.otlp.tracing?.runCycle(async () => {});
    await disabled.otlp.stop();
    expect(receiver.requests).toEqual([]);
  });

  test.each([
    ["always_off", undefined, 0],
    ["parentbased_always_off", undefined, 0],
    ["traceidratio", "0", 0],
    ["traceidratio", "1", 1],
    ["parentbased_traceidratio", "7", 1],
    ["no_such_sampler", undefined, 1],
  ])("are sampled as the standard variables say: %s, %s", async (sampler, argument, cycles) => {
    vi.stubEnv("OTEL_TRACES_SAMPLER", sampler);
    vi.stubEnv("OTEL_TRACES_SAMPLER_ARG", argument);
    const { otlp } = start(receiver.url, { metrics: false });
    await otlp.tracing?.runCycle(async () => {});
    await otlp.stop();
    expect(received().filter(({ name }) => name === "cycle")).toHaveLength(cycles);
  });
});
