import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import { analyse, analysisSettings } from "../../exporter/analysis/analyse.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { measurePlacement } from "../../exporter/analysis/placement/measurePlacement.ts";
import type { PoolPlacement } from "../../exporter/analysis/placement/poolPlacement.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import type { WaitingGang } from "../../exporter/join/queues/queueing.ts";
import type { Snapshot } from "../../exporter/join/snapshot.ts";
import { strandedReasons } from "../../exporter/model/fragmentation.ts";
import { placedSizes } from "../../exporter/model/placedSizes.ts";
import { traceScenario } from "../../simulator/scenarios/trace.ts";
import {
  type NaiveTask,
  naiveCases,
  naiveFragmentation,
  naiveTarget,
  unusable,
} from "../analysis/placement/naiveFragmentation.ts";
import {
  fitting,
  largestPod,
  medianRequest,
  partlyFree,
  possibleFreeNodes,
  strandedGpus,
  wholeFree,
  wholeFreeNodes,
} from "../analysis/placement/naiveMeasures.ts";
import { amountsOf, configured } from "../analysis/placement/placedNodes.ts";
import { latest, startAt, sum, teamsByNamespaceLabel } from "./accounting.ts";
import {
  emptyNodes,
  hasOpenb,
  placedNodes,
  placements,
  podsOf,
  type TraceNode,
  type TracePod,
  traces,
} from "./openbTrace.ts";

const hasTraces = hasOpenb();

/** Equal but for a millionth part. */
function expectNear(found: number, expected: number, what: string): void {
  expect(Math.abs(found - expected), `${what}: ${found} instead of ${expected}`).toBeLessThanOrEqual(
    1e-6 * Math.max(1, Math.abs(expected)),
  );
}

describe.skipIf(!hasTraces)("shapes of the pod lists, as the reference counts them: without memory", () => {
  it.each([
    ["openb_pod_list_default.csv", 91, 35],
    ["openb_pod_list_gpuspec33.csv", 330, 127],
  ] as const)("%s", (file, all, kept) => {
    const pods = [...podsOf(file).values()].map((pod) => ({ ...pod, memory: 0 }));
    expect(naiveTarget(pods, 1)).toHaveLength(all);
    expect(naiveTarget(pods)).toHaveLength(kept);
  });
});

describe.skipIf(!hasTraces).each([
  ["empty", emptyNodes, false],
  ["filled to 75 %", placedNodes, true],
] as const)("the openb cluster, %s", (_what, nodesOf, isFilled) => {
  let cluster: PlayedCluster;
  let analysis: Analysis;
  let nodes: readonly TraceNode[];
  /** The exporter's name of each model of the trace. */
  let poolOf: ReadonlyMap<string, string>;

  beforeAll(async () => {
    const trace = traceScenario(traces);
    if (!trace.ok) throw new Error(trace.problem.message);
    const scenario = isFilled ? trace.scenario : { ...trace.scenario, placed: [] };
    cluster = await playCluster({ scenario, seed: 1, startAt, config: teamsByNamespaceLabel("openb") });
    await cluster.step(0);
    await cluster.step(30);
    analysis = latest(cluster);
    nodes = nodesOf();
    const views = new Map(analysis.snapshot.nodes.map((node) => [node.name, node.pools[0] ?? ""] as const));
    poolOf = new Map(nodes.map(({ name, model }) => [model, views.get(name) ?? ""] as const));
  });
  afterAll(() => cluster?.stop());

  const ofPool = ({ pool }: PoolPlacement): readonly TraceNode[] =>
    nodes.filter(({ model }) => poolOf.get(model) === pool);

  /** The same tasks with the exporter's names of models. */
  const asConfigured = (tasks: readonly NaiveTask[]) =>
    configured(tasks.map((task) => ({ ...task, models: task.models.map((model) => poolOf.get(model) ?? model) })));

  it("has on every node the CPU, memory and GPUs that are left of it", () => {
    const { snapshot } = analysis;
    const views = new Map(snapshot.nodes.map((node) => [node.name, node] as const));
    expect(views.size).toBe(nodes.length);
    for (const node of nodes) {
      const view = views.get(node.name);
      const requests = snapshot.requestsByNode?.get(node.name);
      expect((view?.allocatableCpuMilli ?? 0) - (requests?.cpuMilli ?? 0)).toBe(node.cpu);
      expect((view?.allocatableMemoryBytes ?? 0) - (requests?.memoryBytes ?? 0)).toBe(node.memory);
      const free = (view?.devices ?? []).map((device) => 1 - allocatedOf(snapshot, device));
      expect(free.toSorted((a, b) => a - b).map((one) => Math.round(one * 1000) / 1000)).toEqual(
        node.free.toSorted((a, b) => a - b),
      );
    }
  });

  describe.each(["openb_pod_list_default.csv", "openb_pod_list_gpuspec33.csv"] as const)(
    "for the pods of %s",
    (file) => {
      it.each([
        ["all of them", (): boolean => true],
        ["those with GPUs", (pod: TracePod): boolean => pod.gpus > 0],
      ])("%s: expected fragmentation is the naive sum, in all and by cause, of every pool", (_which, isIn) => {
        const tasks = naiveTarget([...podsOf(file).values()].filter(isIn));
        const { pools } = measurePlacement(analysis.snapshot, { targetWorkload: asConfigured(tasks), ended: null });
        expect(pools).toHaveLength(7);
        for (const pool of pools) {
          const naive = naiveFragmentation(ofPool(pool), tasks);
          const found = amountsOf([pool]);
          for (const one of naiveCases) expectNear(found[one], naive[one], `${pool.pool} ${one}`);
          expectNear(pool.expected.gpus, unusable(naive), pool.pool);
        }
        const all = unusable(naiveFragmentation(nodes, tasks));
        expect(all).toBeGreaterThan(isFilled ? 100 : 10);
        expectNear(sum(pools.map(({ expected }) => expected.gpus)), all, "all pools");
      });

      it("stranded GPUs are those that no task can use, by reason", () => {
        const tasks = naiveTarget([...podsOf(file).values()].filter((pod) => pod.gpus > 0));
        const { pools } = measurePlacement(analysis.snapshot, { targetWorkload: asConfigured(tasks), ended: null });
        for (const pool of pools) {
          const naive = strandedGpus(ofPool(pool), tasks);
          for (const reason of strandedReasons)
            expect(pool.strandedGpus[reason] ?? 0, `${pool.pool} ${reason}`).toBe(naive.get(reason) ?? 0);
        }
      });
    },
  );

  it("every other measure of every pool is the one that is counted by hand", () => {
    const pods = isFilled ? [...placements().keys()].flatMap((name) => podsOfPlacement.get(name) ?? []) : [];
    const withGpus = pods.filter(({ gpus }) => gpus > 0);
    for (const found of analysis.placement.pools) {
      const own = ofPool(found);
      const free = sum(own.map(wholeFree));
      expect(found.freeGpus).toBe(free);
      expectNear(found.sharedFreeGpus, sum(own.map(partlyFree)), `${found.pool} shared`);
      expect([found.partitionedFreeGpus, found.unavailableFreeGpus]).toEqual([0, 0]);
      const requestOf = (size: number) => medianRequest(withGpus, size);
      for (const [i, size] of placedSizes.entries()) {
        const request = requestOf(size);
        expectNear(found.typicalRequests[i]?.cpuMilli ?? -1, request.cpu, `CPU of ${size}`);
        expectNear(found.typicalRequests[i]?.memoryBytes ?? -1, request.memory, `memory of ${size}`);
        const placed = sum(own.map((node) => fitting(node, size, request)));
        expect(found.placeablePods[size], `${found.pool}: pods of ${size}`).toBe(placed);
        expectNear(found.shapeFragmentation[size], free < size ? 0 : 1 - (size * placed) / free, `${size} GPUs`);
      }
      expect(found.largestPlaceablePod).toBe(largestPod(own, requestOf));
      expect(found.wholeFreeNodes).toBe(wholeFreeNodes(own));
      expect(found.possibleWholeFreeNodes).toBe(possibleFreeNodes(own));
    }
  });

  it("the target workload is what runs and waits there", () => {
    const pods = [...placements().keys()].flatMap((name) => podsOfPlacement.get(name) ?? []);
    const naive = naiveTarget(pods.filter(({ gpus }) => gpus > 0));
    const { target } = analysis.placement;
    if (!isFilled) {
      expect(target).toMatchObject({ source: "fixed", pods: 0 });
      return;
    }
    expect(target.source).toBe("pods");
    expect(target.pods).toBe(pods.filter(({ gpus }) => gpus > 0).length);
    expect(target.shapes).toHaveLength(naive.length);
    for (const [i, { popularity }] of naive.entries())
      expectNear(target.shapes[i]?.popularity ?? 0, popularity, `${i}`);
  });

  it("blocked is what finds enough GPUs and no place for them", () => {
    const waiting = isFilled ? [...placements()].filter(([, place]) => place === null) : [];
    const [example] = analysis.snapshot.queueing.gangs;
    expect(analysis.snapshot.queueing.gangs).toHaveLength(isFilled ? 6 : 0);
    expect(waiting).toHaveLength(isFilled ? 6 : 0);
    if (example === undefined) return expect(analysis.blocked.work).toEqual([]);
    const made = madeUp.map((pod, i) => gangOf(example, `made-up-${i}`, pod));
    const { queueing } = analysis.snapshot;
    const snapshot = { ...analysis.snapshot, queueing: { ...queueing, gangs: [...queueing.gangs, ...made] } };
    const settings = analysisSettings(configSchema.parse({ cluster: "openb" }));
    const first = analyse(snapshot, settings).blocked;
    const blocked = new Set(first.work.map(({ gang }) => snapshot.queueing.gangs[gang]?.name));
    const pods: readonly (readonly [string, TracePod])[] = [
      ...waiting.flatMap(([name]) => {
        const pod = podsOfPlacement.get(name);
        return pod === undefined ? [] : [[name, pod] as const];
      }),
      ...madeUp.map((pod, i) => [`made-up-${i}`, pod] as const),
    ];
    for (const [name, pod] of pods) {
      const asked = pod.gpus * pod.share;
      const free = sum(nodes.map((node) => wholeFree(node) + partlyFree(node)));
      const fits = nodes.some(
        (node) =>
          node.cpu >= pod.cpu &&
          node.memory >= pod.memory &&
          node.free.filter((part) => part >= pod.share).length >= pod.gpus,
      );
      expect(blocked.has(name), `${name}: ${JSON.stringify(pod)}`).toBe(!fits && free >= asked);
    }
    expect(madeUp.map((_, i) => blocked.has(`made-up-${i}`))).toEqual(expect.arrayContaining([true, false]));
    const later = { ...snapshot, at: snapshot.at + 301 };
    const standing = analyse(later, { ...settings, blockedSince: first.since }).blocked.work;
    expect(standing.map(({ isStanding }) => isStanding)).toEqual(first.work.map(() => true));
    expect(first.work.filter(({ isStanding }) => isStanding)).toEqual([]);
  });
});

const podsOfPlacement: ReadonlyMap<string, TracePod> = hasTraces ? podsOf("openb_pod_list_default.csv") : new Map();

const gib = 2 ** 30;
const madeUp: readonly TracePod[] = [
  { cpu: 1000, memory: gib, gpus: 1, share: 1, models: [] },
  { cpu: 1000, memory: gib, gpus: 1, share: 0.5, models: [] },
  { cpu: 8000, memory: 16 * gib, gpus: 4, share: 1, models: [] },
  { cpu: 8000, memory: 16 * gib, gpus: 8, share: 1, models: [] },
  { cpu: 127_000, memory: 16 * gib, gpus: 1, share: 1, models: [] },
  { cpu: 1000, memory: 900 * gib, gpus: 1, share: 1, models: [] },
  { cpu: 96_000, memory: 16 * gib, gpus: 6, share: 1, models: [] },
  { cpu: 1000, memory: gib, gpus: 7, share: 1, models: [] },
];

/** Work that waits like another, but asks for this. */
function gangOf(like: WaitingGang, name: string, { cpu, memory, gpus, share }: TracePod): WaitingGang {
  const [part] = like.parts;
  if (part?.needs == null) throw new Error("nothing says what it asks for");
  const requests = { cpu: cpu / 1000, memory, ...(share === 1 ? { "nvidia.com/gpu": gpus } : {}) };
  const needs = { ...part.needs, requests };
  return { ...like, name, uid: name, gpus: gpus * share, parts: [{ ...part, needs, gpusPerPod: gpus * share }] };
}

function allocatedOf({ devices }: Snapshot, index: number): number {
  return sum((devices[index]?.holders ?? []).map(({ share }) => share));
}
