import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { demoScenario } from "../../../simulator/scenarios/demo.ts";
import { traceScenario } from "../../../simulator/scenarios/trace.ts";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { getList, getText } from "../apiClient.ts";
import { readStrictly } from "../exposition.ts";
import { generatedScenario } from "./generated.ts";

const startAt = 1_795_000_000;
const running: Simulator[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((simulator) => simulator.stop()));
});

async function start(scenario: Parameters<typeof startSimulator>[0]["scenario"]): Promise<Simulator> {
  const simulator = await startSimulator({ scenario, seed: 1, startAt });
  running.push(simulator);
  return simulator;
}

describe("the demo", () => {
  it("is 24 nodes with 176 GPUs, held by four teams and by nobody's namespace", async () => {
    const truth = (await start(demoScenario())).truth();
    expect(truth.nodes).toHaveLength(24);
    expect(truth.physicalGpus).toHaveLength(176);
    expect(new Set(truth.teams.map((each) => each.team))).toEqual(
      new Set(["search", "ads", "vision", "notebooks", null]),
    );
    expect(truth.nodes.filter((node) => !node.schedulable).map((node) => node.name)).toEqual(["h100-08"]);
  });

  it("keeps search short of its own quota while ads borrows, for hours", async () => {
    const simulator = await start(demoScenario());
    const of = (name: string) => simulator.truth().queues.find(({ queue }) => queue === name);
    for (let hour = 0; hour < 3; hour++) {
      expect(of("search")?.allocated).toBe(16);
      expect(of("search")?.waiting).toBeGreaterThanOrEqual(16);
      expect(of("ads")?.allocated).toBe(48);
      simulator.advance(3600);
    }
  });

  it("never runs a part of a gang", async () => {
    const simulator = await start(demoScenario());
    simulator.advance(3600);
    const waiting = new Set(simulator.truth().pending.map((pod) => pod.workload));
    const holders = new Set(
      simulator.truth().physicalGpus.flatMap((physicalGpu) => physicalGpu.holders.map((holder) => holder.pod)),
    );
    for (const gang of ["ranker", "ctr", "ads-foundation", "sweep"]) {
      for (const workload of [...waiting].filter((name) => name.startsWith(gang))) {
        expect([...holders].filter((pod) => pod.startsWith(workload))).toEqual([]);
      }
    }
  });

  it("has the things that make it a demo: an empty page, failed pods, idle notebooks, claims", async () => {
    const simulator = await start(demoScenario());
    expect(await getText(simulator.metricsUrls.get("h100-02") ?? "")).toBe("");
    const failed = await getList(`${simulator.apiUrl}/api/v1/pods?fieldSelector=status.phase%3DFailed`);
    expect(failed.items.length).toBeGreaterThan(0);
    const notebooks = simulator.truth().teams.find((each) => each.team === "notebooks");
    expect(notebooks?.active).toBeLessThan(0.4 * (notebooks?.allocated ?? 0));
    const claims = await getText(`${simulator.apiUrl}/apis/resource.k8s.io/v1/resourceclaims`);
    for (const part of ['"adminAccess":true', "extended-resource-claim", "reservedFor"]) expect(claims).toContain(part);
  });
});

describe("generated scenarios", () => {
  it("bring up every mode, dialect and kind of workload, and use every mode", async () => {
    const scenarios = Array.from({ length: 30 }, (_, seed) => generatedScenario(seed, 6));
    const nodes = scenarios.flatMap((scenario) => scenario.nodes);
    expect(new Set(nodes.map((node) => node.mode.kind)).size).toBe(9);
    expect(new Set(nodes.map((node) => node.exporter?.dialect)).size).toBe(6);
    const kinds = scenarios.flatMap((scenario) => scenario.habits.map((habit) => habit.workload.kind));
    expect(new Set(kinds).size).toBe(9);
    const used = new Set<string>();
    for (const scenario of scenarios) {
      const simulator = await startSimulator({ scenario, seed: 1, startAt });
      const modes = new Map(scenario.nodes.map((node) => [node.name, node.mode.kind]));
      for (const physicalGpu of simulator.truth().physicalGpus)
        if (physicalGpu.holders.length > 0) used.add(modes.get(physicalGpu.node) ?? "");
      await simulator.stop();
    }
    expect(used.size).toBe(9);
  });

  it("are the same for the same seed", () => {
    expect(generatedScenario(9, 5)).toEqual(generatedScenario(9, 5));
    expect(generatedScenario(9, 5)).not.toEqual(generatedScenario(10, 5));
  });
});

const traces = process.env.FAIRLEAD_TRACES ?? fileURLToPath(new URL("../../../../shared/traces", import.meta.url));
const hasTraces = existsSync(traces);

describe("the openb trace", () => {
  it("says which file is missing", () => {
    const result = traceScenario("/nowhere");
    expect(result).toMatchObject({ ok: false, problem: { code: "trace-missing" } });
  });

  it.skipIf(!hasTraces)("becomes 1,213 nodes filled to 4,610.7 of 6,212 GPUs (needs FAIRLEAD_TRACES)", async () => {
    const result = traceScenario(traces);
    if (!result.ok) throw new Error(result.problem.message);
    const simulator = await start(result.scenario);
    const truth = simulator.truth();
    expect([truth.nodes.length, truth.physicalGpus.length, truth.teams.length]).toEqual([1213, 6212, 8]);
    // The sum of gpu_milli over the placed pods of the trace, counted apart from this code.
    expect(truth.teams.reduce((sum, team) => sum + team.allocated, 0)).toBeCloseTo(4610.7, 6);
    const allocated = truth.physicalGpus.map((physicalGpu) =>
      physicalGpu.holders.reduce((sum, holder) => sum + holder.share, 0),
    );
    expect(Math.max(...allocated)).toBeLessThanOrEqual(1 + 1e-9);
    const exporters = await getList(`${simulator.apiUrl}/api/v1/pods?labelSelector=app%3Dnvidia-dcgm-exporter`);
    expect(exporters.items).toHaveLength(1213);
    expect(readStrictly(await getText(simulator.metricsUrls.get("openb-node-1212") ?? "")).length).toBeGreaterThan(0);
  });

  it.skipIf(!hasTraces)("can be cut to its first nodes (needs FAIRLEAD_TRACES)", async () => {
    const result = traceScenario(traces, { nodes: 20, teams: 3 });
    if (!result.ok) throw new Error(result.problem.message);
    const truth = (await start(result.scenario)).truth();
    expect(truth.nodes).toHaveLength(20);
    expect(truth.pending).toEqual([]);
    expect(truth.teams.length).toBeLessThanOrEqual(3);
  });
});
