import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { traceScenario } from "../../simulator/scenarios/trace.ts";
import {
  expectClosedAccounts,
  expectSameAmounts,
  latest,
  startAt,
  sum,
  sumBy,
  teamsByNamespaceLabel,
} from "./accounting.ts";

const traces = process.env.FAIRLEAD_TRACES ?? join(import.meta.dirname, "../../../shared/traces");
const hasTraces = existsSync(join(traces, "openb", "placed_random75.csv.gz"));
if (!hasTraces) process.stdout.write("skipped: no openb trace; set FAIRLEAD_TRACES to the folder that holds openb/\n");

/** Rows of a csv file without quotes, by column name: read here, so that nothing of the simulator is trusted. */
function rows(file: string): readonly ReadonlyMap<string, string>[] {
  const bytes = readFileSync(join(traces, "openb", file));
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  const [head, ...lines] = text.trim().split(/\r?\n/);
  const names = (head ?? "").split(",");
  return lines.map((line) => new Map(line.split(",").map((cell, i) => [names[i] ?? "", cell] as const)));
}

/** FNV-1a, 32 bit, of the pod's name, modulo eight teams. */
function teamOfPod(name: string): string {
  let hash = 2166136261n;
  for (const byte of Buffer.from(name)) hash = ((hash ^ BigInt(byte)) * 16777619n) % 4294967296n;
  return `team-${hash % 8n}`;
}

interface Counted {
  readonly gpus: number;
  readonly byModel: ReadonlyMap<string, number>;
  readonly allocatedByTeam: ReadonlyMap<string, number>;
  readonly allocatedByModel: ReadonlyMap<string, number>;
}

function countFiles(): Counted {
  const nodes = rows("openb_node_list_gpu_node.csv");
  const modelOf = new Map(nodes.map((node) => [node.get("sn") ?? "", node.get("model") ?? ""] as const));
  const pods = new Map(rows("openb_pod_list_default.csv").map((pod) => [pod.get("name") ?? "", pod] as const));
  const placed = rows("placed_random75.csv.gz").flatMap((row) => {
    const name = row.get("pod") ?? "";
    const model = modelOf.get(row.get("node") ?? "");
    const pod = pods.get(name);
    const gpus = (Number(pod?.get("num_gpu")) * Number(pod?.get("gpu_milli"))) / 1000;
    return model === undefined || !(gpus > 0) ? [] : [{ team: teamOfPod(name), model, gpus }];
  });
  const gpusOf = (node: ReadonlyMap<string, string>): number => Number(node.get("gpu"));
  return {
    gpus: sum(nodes.map(gpusOf)),
    byModel: sumBy(nodes, (node) => node.get("model") ?? "", gpusOf),
    allocatedByTeam: sumBy(
      placed,
      (p) => p.team,
      (p) => p.gpus,
    ),
    allocatedByModel: sumBy(
      placed,
      (p) => p.model,
      (p) => p.gpus,
    ),
  };
}

/** The trace's names of the exporter's models, where they differ. */
const traceModels: Readonly<Record<string, string>> = {
  "P100-PCIE-16GB": "P100",
  "V100-SXM2-16GB": "V100M16",
  "V100-SXM2-32GB": "V100M32",
};
const traceModel = (model: string): string => traceModels[model] ?? model;

describe.skipIf(!hasTraces)("the openb cluster of 6,212 GPUs", () => {
  let cluster: PlayedCluster;
  let analysis: Analysis;
  let counted: Counted;
  beforeAll(async () => {
    const trace = traceScenario(traces);
    if (!trace.ok) throw new Error(trace.problem.message);
    const teams = teamsByNamespaceLabel("openb");
    // The trace's machines have types of their own, which no list has prices of.
    const config = { ...teams, prices: { ...teams.prices, table: false } };
    cluster = await playCluster({ scenario: trace.scenario, seed: 1, startAt, config });
    await cluster.step(0);
    await cluster.step(30);
    analysis = latest(cluster);
    counted = countFiles();
  });
  afterAll(() => cluster.stop());

  it("adds up and has nothing to complain about", () => {
    expectClosedAccounts(analysis);
    expect(cluster.stack.problems()).toEqual([]);
  });

  it("has as many GPUs of each model as the node list", () => {
    expect(counted.gpus).toBe(6212);
    expect(sum(analysis.snapshot.nodes.map((node) => node.physicalGpus ?? Number.NaN))).toBe(counted.gpus);
    const found = sumBy(
      analysis.pools,
      (pool) => traceModel(pool.gpuModels.join()),
      (pool) => pool.physicalGpus,
    );
    expectSameAmounts(found, counted.byModel, "GPUs of model");
  });

  it("has as many GPUs allocated to each team, and of each model, as the placement", () => {
    expect(counted.allocatedByTeam.size).toBe(8);
    const teams = new Map(analysis.teams.map((team) => [team.team, team.allocated] as const));
    expectSameAmounts(teams, counted.allocatedByTeam, "held by");
    const models = sumBy(
      analysis.pools,
      (pool) => traceModel(pool.gpuModels.join()),
      (pool) => pool.allocated,
    );
    expectSameAmounts(models, counted.allocatedByModel, "held of model");
  });

  it("has the rest free", () => {
    const unallocated = analysis.accountingEntries.list
      .filter((accountingEntry) => accountingEntry.pod === null)
      .map((accountingEntry) => accountingEntry.gpus);
    expect(sum(unallocated)).toBeCloseTo(counted.gpus - sum(counted.allocatedByTeam.values()), 5);
  });
});
