import { describe, expect, it } from "vitest";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { unassigned } from "../../exporter/join/teamOf.ts";
import type { NodeSpec } from "../../simulator/scenario.ts";
import type { Truth } from "../../simulator/truth.ts";
import { generatedScenario } from "../simulator/scenarios/generated.ts";
import {
  expectClosedAccounts,
  expectSameAmounts,
  expectTrueHoldings,
  latest,
  startAt,
  sumBy,
  teamsByNamespaceLabel,
  tolerance,
} from "./accounting.ts";

const seeds = Array.from({ length: 15 }, (_, i) => i + 1);
const nodesPerCluster = 6;
const steps = [0, 30, 45, 120, 600];

/** Pages print GPU_UTIL in whole percent, profiling ratios with six decimals, 1.x and 2.x pages alike. */
const printedHalf = 0.005;

describe.each(seeds)("generated cluster %i", (seed) => {
  it("is found as it is at every step", async () => {
    const scenario = generatedScenario(seed, nodesPerCluster);
    const specs = new Map(scenario.nodes.map((node) => [node.name, node]));
    const cluster = await playCluster({ scenario, seed, startAt, config: teamsByNamespaceLabel("generated") });
    try {
      for (const seconds of steps) {
        await cluster.step(seconds);
        compare(cluster, specs);
      }
    } finally {
      await cluster.stop();
    }
  });
});

function compare(cluster: PlayedCluster, specs: ReadonlyMap<string, NodeSpec>): void {
  const analysis = latest(cluster);
  const truth = cluster.simulator.truth();
  expectClosedAccounts(analysis);
  expectTrueNodes(analysis, truth, specs);
  const isKnown = (name: string): boolean => canBeCounted(specs.get(name));
  expectTrueHoldings(analysis, truth, isKnown, unassigned);
  if ([...specs.values()].every(canBeCounted)) {
    const teams = new Map(analysis.teams.map((team) => [team.team, team.allocated]));
    expectSameAmounts(
      teams,
      sumBy(
        truth.teams,
        (t) => t.team ?? unassigned,
        (t) => t.allocated,
      ),
      "total held by team",
    );
  }
  expectTrueActivity(analysis, truth);
  expect(cluster.stack.cycle.health().cycles.failed).toBe(0);
}

/**
 * Without GPU Feature Discovery nothing in the API says into how many parts a GPU of these nodes is cut, so the number
 * of their GPUs cannot be known: replicas look like GPUs, and instances of half-used GPUs fit on fewer. All other
 * nodes, exotic as they are, must be counted exactly.
 */
function canBeCounted(node: NodeSpec | undefined): boolean {
  if (node === undefined || node.featureDiscovery) return node !== undefined;
  return !["time-slicing", "mps", "mig-single", "mig-mixed"].includes(node.mode.kind);
}

function expectTrueNodes(analysis: Analysis, truth: Truth, specs: ReadonlyMap<string, NodeSpec>): void {
  const { nodes, coverage, problems } = analysis.snapshot;
  const found = new Map(nodes.map((node) => [node.name, node.physicalGpus]));
  for (const node of truth.nodes) {
    const gpus = found.get(node.name);
    if (canBeCounted(specs.get(node.name))) expect(gpus, `GPUs of ${node.name}`).toBe(node.physicalGpus);
    if (gpus !== null) continue;
    expect(coverage.uncountedNodes).toContain(node.name);
    expect(problems.filter((p) => p.subject === node.name).map((p) => p.code)).toContain("node-uncounted");
  }
}

/** A pod that alone holds a device it surely has is as active as the simulator's exporter last saw that device. */
function expectTrueActivity(analysis: Analysis, truth: Truth): void {
  const physicalGpus = new Map(
    truth.physicalGpus.map((physicalGpu) => [`${physicalGpu.node}/${physicalGpu.uuid}`, physicalGpu]),
  );
  for (const device of analysis.snapshot.devices) {
    const [holding, ...others] = device.holders;
    if (holding === undefined || others.length > 0 || holding.estimated || holding.activity === null) continue;
    const physicalGpu = physicalGpus.get(`${device.node}/${device.uuid}`);
    const instance = physicalGpu?.migInstances.find((i) => i.id === device.gpuInstance);
    const observed = device.gpuInstance === null ? physicalGpu?.observed : instance?.observed;
    const where = `activity of ${device.node}/${device.uuid}/${device.gpuInstance}`;
    expect(observed ?? null, where).not.toBeNull();
    const part = holding.share / device.weight;
    const half = device.signal === "gpu_util" ? printedHalf : tolerance;
    expect(Math.abs(holding.activity - Math.min(1, (observed ?? 0) / part)), where).toBeLessThanOrEqual(
      half / part + tolerance,
    );
  }
}

it("leaves few nodes out of these comparisons", () => {
  const nodes = seeds.flatMap((seed) => generatedScenario(seed, nodesPerCluster).nodes);
  expect(nodes.filter(canBeCounted).length / nodes.length).toBeGreaterThan(0.9);
});
