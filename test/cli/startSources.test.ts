import { createServer, type RequestListener, type Server } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { createStepClock, type StepClock } from "../../cli/demo/playCluster.ts";
import { buildExporter, type ExporterStack } from "../../cli/exporterStack.ts";
import { startSources } from "../../cli/startSources.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { missingForReadiness } from "../../exporter/publish/health.ts";
import { createApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { systemClock } from "../../exporter/sources/kubernetes/clock.ts";
import { anonymousCredentials } from "../../exporter/sources/kubernetes/credentials.ts";
import { gpuNode } from "../../simulator/scenarios/parts.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { one, smallCluster } from "../simulator/smallCluster.ts";

const boundSeconds = 60;

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** Two nodes of four A100, all of them busy; models are known from telemetry alone. */
async function startCluster(): Promise<Simulator> {
  const nodes = ["n1", "n2"].map((name) => gpuNode(name, "A100", 4, { kind: "whole" }, { featureDiscovery: false }));
  const scenario = smallCluster([one("Job", 8)], { nodes });
  const simulator = await startSimulator({ scenario, seed: 7, startAt: 1_795_000_000 });
  stops.push(simulator.stop);
  return simulator;
}

/** An exporter on the cluster that is being started, on a clock that goes on when it is pushed. */
function startExporter(simulator: Simulator, settings: object = {}) {
  const clock = createStepClock();
  const client = createApiClient(anonymousCredentials(simulator.apiUrl), systemClock);
  const { now, monotonic } = simulator;
  const stack = buildExporter({
    config: configSchema.parse(settings),
    client,
    now,
    monotonic,
    telemetryPath: "/metrics",
    users: {},
    kubernetes: { clock, random: () => 0.5 },
  });
  stops.push(async () => {
    await Promise.all([stack.dcgm.stop(), stack.kubernetes.stop(), stack.prices.stop()]);
    await client.close();
  });
  let isStarted = false;
  const { schedule } = clock;
  const started = startSources(stack, { boundSeconds, isEnding: () => false, schedule }).then(() => {
    isStarted = true;
  });
  return { stack, clock, started, isStarted: () => isStarted };
}

/** Turns of the event loop, until something is so. Both ends of each connection are served in them. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

/** Lets time go by, little in each turn, until something is so; how much it was. */
async function secondsUntil(clock: StepClock, isSo: () => boolean): Promise<number> {
  const from = clock.monotonic();
  await until(() => {
    clock.push(0.02);
    return isSo();
  });
  return clock.monotonic() - from;
}

/** The page of a node comes when its gate is opened, however long that takes. */
async function gatedPage(simulator: Simulator, node: string) {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let asked = 0;
  const answer: RequestListener = async (_request, response) => {
    asked += 1;
    await opened;
    response.end(await (await fetch(simulator.metricsUrls.get(node) ?? "")).text());
  };
  const server: Server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const targets = [{ url: `http://127.0.0.1:${port}/metrics`, node }];
  return { targets, open: () => open(), asked: () => asked };
}

const pagesOf = (stack: ExporterStack) => stack.dcgm.sources.flatMap((source) => source.read().pages);

/** GPUs of the first cycle by state, its pools, and what it says about telemetry. */
async function firstCycle(stack: ExporterStack) {
  await stack.cycle.run();
  const analysis = stack.cycle.latest();
  if (analysis === null) throw new Error(JSON.stringify(stack.problems()));
  const { devices, nodes, pods } = analysis.snapshot;
  const allocatedDevices = devices.filter(({ holders }) => holders.length > 0);
  return {
    allocated: allocatedDevices.length,
    unobserved: allocatedDevices.filter(({ activity }) => activity === null).map(({ node }) => node),
    pools: [...new Set(nodes.flatMap(({ pools }) => pools))],
    pods: pods.length,
    telemetryProblems: stack
      .problems()
      .map(({ code }) => code)
      .filter((code) => code.startsWith("no-t") || code.startsWith("target")),
  };
}

describe("the first cycle", () => {
  it("has telemetry: nothing is unobserved, in a pool unknown, or said to miss an exporter", async () => {
    const { stack, started } = startExporter(await startCluster());
    await started;
    expect(missingForReadiness(stack.health())).toEqual(["the first cycle is not complete yet"]);
    expect(await firstCycle(stack)).toEqual({
      allocated: 8,
      unobserved: [],
      pools: ["A100-SXM4-80GB"],
      pods: 8,
      telemetryProblems: [],
    });
    expect(missingForReadiness(stack.health())).toEqual([]);
  });

  it("waits for a slow exporter", async () => {
    const simulator = await startCluster();
    const page = await gatedPage(simulator, "n1");
    const { stack, clock, started, isStarted } = startExporter(simulator, { dcgm: { targets: page.targets } });
    await until(() => page.asked() === 1 && pagesOf(stack).length === 1);
    clock.push(boundSeconds - 1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isStarted()).toBe(false);
    page.open();
    await started;
    expect(await firstCycle(stack)).toMatchObject({ allocated: 8, unobserved: [], telemetryProblems: [] });
  });

  it("does not wait for ever: what never answers is unobserved, all else is not", async () => {
    const simulator = await startCluster();
    const page = await gatedPage(simulator, "n1");
    const { stack, clock, started } = startExporter(simulator, { dcgm: { targets: page.targets } });
    await until(() => page.asked() === 1 && pagesOf(stack).length === 1);
    clock.push(boundSeconds);
    await started;
    const { allocated, unobserved } = await firstCycle(stack);
    expect({ allocated, unobserved }).toEqual({ allocated: 8, unobserved: ["n1", "n1", "n1", "n1"] });
  });

  it("waits for pods that the API lists late, and for the exporters among them", async () => {
    const simulator = await startCluster();
    const fix = simulator.fault({ kind: "api-list-error", resource: "pods" });
    const { stack, clock, isStarted } = startExporter(simulator);
    await until(() => stack.kubernetes.status().pods.state === "failing");
    expect(isStarted()).toBe(false);
    fix();
    expect(await secondsUntil(clock, isStarted)).toBeLessThan(boundSeconds);
    expect(await firstCycle(stack)).toMatchObject({ allocated: 8, unobserved: [], pods: 8, telemetryProblems: [] });
  });

  it("comes without pods where the API never lists them", async () => {
    const simulator = await startCluster();
    simulator.fault({ kind: "api-list-error", resource: "pods" });
    const { stack, clock, isStarted } = startExporter(simulator);
    expect(await secondsUntil(clock, isStarted)).toBeGreaterThanOrEqual(boundSeconds);
    expect(await firstCycle(stack)).toMatchObject({ allocated: 0, pods: 0 });
    expect(missingForReadiness(stack.health())).toEqual(["kubernetes: pods not read yet"]);
  });

  it("does not wait for pods that may not be read", async () => {
    const simulator = await startCluster();
    simulator.fault({ kind: "api-forbidden", resource: "pods" });
    const { stack, started } = startExporter(simulator);
    await started;
    expect(await firstCycle(stack)).toMatchObject({ allocated: 0, pods: 0 });
  });
});
