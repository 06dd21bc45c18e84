import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { kaiFinder } from "../../../exporter/join/queues/kaiFinder.ts";
import { kaiSystem } from "../../../exporter/join/queues/kaiSystem.ts";
import { volcanoFinder } from "../../../exporter/join/queues/volcanoFinder.ts";
import { volcanoPlugin } from "../../../exporter/join/queues/volcanoPlugin.ts";
import { volcanoSystem } from "../../../exporter/join/queues/volcanoSystem.ts";
import { isRecord } from "../../../exporter/kernel/parseJson.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { decodePriorityClass } from "../../../exporter/sources/kubernetes/decodeCluster.ts";
import type { Decoded } from "../../../exporter/sources/kubernetes/decoded.ts";
import { decodePod } from "../../../exporter/sources/kubernetes/decodePod.ts";
import {
  decodeKaiPodGroup,
  decodeKaiQueue,
  decodeSchedulingShard,
} from "../../../exporter/sources/kubernetes/queues/decodeKai.ts";
import {
  decodeVolcanoPodGroup,
  decodeVolcanoQueue,
} from "../../../exporter/sources/kubernetes/queues/decodeVolcano.ts";
import {
  byName,
  declaredIn,
  domainOf,
  gangsOf,
  isWellFormed,
  parentsByName,
  physicalGpus,
  scopePools,
} from "./queueRows.ts";

/** The three nodes of all captures have 8 GPUs each. */
const pools = [physicalGpus("A100", 24)];
const domain = domainOf(pools, 24);

const textOf = (name: string): string =>
  readFileSync(new URL(`../../captured/queues/${name}`, import.meta.url), "utf8");

function rows<Row>(name: string, decode: (value: unknown) => Decoded<Row>): readonly Row[] {
  const list: unknown = JSON.parse(textOf(name));
  if (!isRecord(list) || !Array.isArray(list.items)) throw new Error(`${name} is no list`);
  return list.items.map((item) => {
    const decoded = decode(item);
    if (!decoded.ok) throw new Error(decoded.problem.message);
    return decoded.value;
  });
}

const gpuPods = (name: string): readonly Pod[] =>
  rows(name, (value) => decodePod(value)).flatMap(({ gpuPod }) => (gpuPod === null ? [] : [gpuPod]));

/** GPUs by queue as Volcano's page has them, which counts them in thousandths; as good as the largest integer is no bound. */
function volcanoMetric(page: string, metric: string): Readonly<Record<string, number>> {
  const samples = page.matchAll(
    new RegExp(
      `^volcano_queue_${metric}_scalar_resources\\{queue_name="([^"]+)",resource="nvidia.com/gpu"\\} (\\S+)`,
      "gm",
    ),
  );
  return Object.fromEntries(
    [...samples].map(([, queue, value]) => [queue ?? "", Number(value) > 1e15 ? Infinity : Number(value) / 1000]),
  );
}

function volcano(plugin: "capacity" | "proportion", groups = "podGroups") {
  const at = `volcano-1.15/${plugin}`;
  const objects = {
    ...noQueueObjects,
    volcanoQueues: rows(`${at}/queues.json`, decodeVolcanoQueue),
    volcanoPodGroups: rows(`${at}/${groups}.json`, decodeVolcanoPodGroup),
  };
  const pods = gpuPods(`${at}/pods.json`);
  const system = volcanoSystem({ objects, pools, priorityClasses: [], pods, hasPods: true }, plugin, "equal");
  return { objects, pods, system, page: textOf(`${at}/metrics.prom`) };
}

describe("a hierarchy of Volcano 1.15 under the capacity plugin, as captured", () => {
  const { system, page, objects, pods } = volcano("capacity");
  const queues = declaredIn(system, domain);

  it("is below root", () => {
    expect(parentsByName(queues)).toEqual({
      default: null,
      product: null,
      research: null,
      language: "research",
      vision: "research",
    });
    expect(system.problems).toEqual([]);
  });

  it("is sure of what the scheduler says that it deserves", () => {
    const { root: _, ...deserved } = volcanoMetric(page, "deserved");
    expect(Object.keys(deserved)).toHaveLength(5);
    expect(byName(queues, "guaranteed")).toEqual(deserved);
  });

  it("may hold what the scheduler calls its real capacity", () => {
    const { root: _, ...capacity } = volcanoMetric(page, "real_capacity");
    expect(capacity).toMatchObject({ product: 12, vision: Infinity });
    expect(byName(queues, "limit")).toEqual(capacity);
  });

  it("has every pod in a leaf of its own", () => {
    const leaves = new Set(queues.filter(({ isLeaf }) => isLeaf).map(({ name }) => name));
    const find = volcanoFinder(objects);
    expect(pods.length).toBeGreaterThan(20);
    for (const pod of pods) expect(leaves).toContain(find(pod, [])?.name);
  });
});

describe("the plugin of Volcano 1.15 that its queues let guess, as captured", () => {
  it.each([["capacity"], ["proportion"]] as const)("is the one that ran: %s", (plugin) => {
    const { volcanoQueues } = volcano(plugin).objects;
    expect(volcanoPlugin(volcanoQueues, "auto", null)?.plugin ?? "proportion").toBe(plugin);
  });
});

describe("queues of Volcano 1.15 under the proportion plugin, as captured", () => {
  const { system } = volcano("proportion");
  const queues = declaredIn(system, domain);

  it("are flat, share by weight, and are sure of nothing without guarantees", () => {
    expect(parentsByName(queues)).toEqual({ batch: null, default: null, language: null, vision: null });
    expect(byName(queues, "weight")).toEqual({ batch: 1, default: 1, language: 1, vision: 2 });
    expect(byName(queues, "guaranteed")).toEqual({ batch: 0, default: 0, language: 0, vision: 0 });
    expect(byName(queues, "limit")).toEqual({ batch: 2, default: 24, language: 24, vision: 24 });
  });

  it("have their groups as gangs, also those whose minResources leave the GPUs out", () => {
    const gangs = gangsOf(system).map(({ queue, min, total, never, reason }) => [
      queue.name,
      min,
      total,
      never,
      reason,
    ]);
    expect(gangs).toEqual([
      ["batch", 2, null, null, ""],
      ["language", 6, { "nvidia.com/gpu": 6 }, null, ""],
      ["language", 1, { "nvidia.com/gpu": 8 }, null, "NotEnoughResources"],
      ["vision", 2, { "nvidia.com/gpu": 16 }, null, ""],
    ]);
  });

  it("say why a gang that lost a member waits", () => {
    const partial = gangsOf(volcano("proportion", "podGroups.partial").system).filter(({ min }) => min === 6);
    expect(partial).toMatchObject([{ queue: { name: "language" }, reason: "NotEnoughResources" }]);
  });
});

describe("queues of KAI 0.12, as captured", () => {
  const at = "kai-0.12";
  const objects = {
    ...noQueueObjects,
    kaiQueues: rows(`${at}/queues.json`, (value) => decodeKaiQueue(value)),
    kaiPodGroups: rows(`${at}/podGroups.json`, (value) => decodeKaiPodGroup(value)),
    kaiSchedulingShards: rows(`${at}/schedulingShards.json`, decodeSchedulingShard),
  };
  const pods = gpuPods(`${at}/pods.json`);
  const priorityClasses = rows(`${at}/priorityClasses.json`, decodePriorityClass);
  const nodePoolLabel = "kai.scheduler/node-pool";
  const system = kaiSystem({ objects, pools, priorityClasses, nodePoolLabel, pods, hasPods: true });
  const queues = declaredIn(system, domain);

  it("are one tree of the default shard", () => {
    expect(scopePools(system, pools)).toEqual([["A100"]]);
    expect(isWellFormed(queues)).toBe(true);
    expect(parentsByName(queues)).toEqual({
      apps: null,
      research: null,
      product: "apps",
      language: "research",
      vision: "research",
    });
    expect(byName(queues, "guaranteed")).toEqual({ apps: 8, research: 16, product: 8, language: 6, vision: 8 });
    expect(byName(queues, "limit")).toMatchObject({ apps: Infinity, product: 12 });
    expect(byName(queues, "weight")).toMatchObject({ vision: 2, language: 1 });
  });

  it("have every pod in the leaf of its PodGroup", () => {
    const find = kaiFinder(objects, { nodePoolLabel });
    expect(pods.length).toBeGreaterThan(20);
    for (const pod of pods) expect(`team-${find(pod, [])?.name}`).toBe(pod.namespace);
  });

  it("have begun where all GPUs are allocated", () => {
    const waiting = gangsOf(system)
      .filter(({ startedAt }) => startedAt === null)
      .map(({ name }) => name);
    const withoutAll = objects.kaiPodGroups.filter(
      ({ allocated, requested }) => (allocated?.["nvidia.com/gpu"] ?? 0) < (requested?.["nvidia.com/gpu"] ?? 0),
    );
    expect(withoutAll.length).toBeGreaterThan(1);
    expect(waiting).toEqual(withoutAll.map(({ name }) => name));
    expect(gangsOf(system).length).toBeGreaterThan(waiting.length);
  });

  it("never run a group that cannot be preempted and is larger than the quota", () => {
    const stuck = gangsOf(system).filter(({ never }) => never !== null);
    expect(stuck).toMatchObject([
      { queue: { name: "language" }, min: 8, priority: 100, never: "above-limit", reason: "NonPreemptibleOverQuota" },
    ]);
  });
});
