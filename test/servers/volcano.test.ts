import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { until } from "./kubernetesAdmin.ts";
import { capture, familiesOf, readList } from "./queues/capture.ts";
import { comeToRest } from "./queues/comeToRest.ts";
import { cordon } from "./queues/gpuNodes.ts";
import { lookAt } from "./queues/lookAt.ts";
import { sampleValues } from "./queues/samples.ts";
import { startVolcanoCluster, type VolcanoCluster, volcanoCollections } from "./queues/volcanoCluster.ts";
import { gpuShare } from "./queues/volcanoObjects.ts";

const queue = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  status: z.looseObject({ allocated: z.record(z.string(), z.string()).default({}) }),
});
const podGroup = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({ minResources: z.record(z.string(), z.string()).default({}) }),
  status: z.looseObject({
    phase: z.string().default(""), // a new group has none
    running: z.number().default(0),
    conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).default([]),
  }),
});

const gpuLines = /resource="nvidia\.com\/gpu"/;

/** GPUs of each queue as its status says. */
async function allocatedGpus({ server }: VolcanoCluster): Promise<Readonly<Record<string, number>>> {
  const { items } = await readList(server, volcanoCollections.queues);
  return Object.fromEntries(
    z
      .array(queue)
      .parse(items)
      .map(({ metadata, status }) => [metadata.name, Number(status.allocated["nvidia.com/gpu"] ?? 0)]),
  );
}

/** The pod group of a job; `undefined` as long as Volcano's controller has made none. */
async function findPodGroup({ server }: VolcanoCluster, job: string): Promise<z.output<typeof podGroup> | undefined> {
  const { items } = await readList(server, volcanoCollections.podGroups);
  return z
    .array(podGroup)
    .parse(items)
    .find(({ metadata }) => metadata.name.startsWith(`${job}-`));
}

async function podGroupOf(cluster: VolcanoCluster, job: string): Promise<z.output<typeof podGroup>> {
  const found = await findPodGroup(cluster, job);
  if (found === undefined) throw new Error(`${job} has no pod group`);
  return found;
}

/** GPUs by queue from a family of the scheduler's metrics, which counts in thousandths. */
async function gpusIn({ volcano }: VolcanoCluster, family: string): Promise<ReadonlyMap<string, number>> {
  const page = await volcano.metricsPage();
  const gpus = page
    .split("\n")
    .filter((line) => gpuLines.test(line))
    .join("\n");
  const values = sampleValues(gpus, `volcano_queue_${family}_scalar_resources`, "queue_name");
  return new Map([...values].map(([name, value]) => [name, value / 1000]));
}

async function keep(cluster: VolcanoCluster, plugin: string): Promise<void> {
  const page = familiesOf(await cluster.volcano.metricsPage(), "volcano_");
  await capture(cluster.server, `volcano-1.15/${plugin}`, volcanoCollections, { metrics: page });
}

describe("Volcano 1.15 with the proportion plugin", () => {
  let cluster: VolcanoCluster;

  beforeAll(async () => {
    cluster = await startVolcanoCluster("proportion", {
      vision: { weight: 2 },
      language: { weight: 1 },
      batch: { weight: 1, capability: { "nvidia.com/gpu": "2" } },
    });
    await cluster.runJob({ queue: "vision", name: "vision-a", pods: 2, gpus: 8, minAvailable: 2 }, 2);
    await cluster.runJob({ queue: "language", name: "language-a", pods: 6, gpus: 1, minAvailable: 6 }, 6);
    const batch = { queue: "batch", name: "batch-a", pods: 4, gpus: 1, minAvailable: 2, onlyLimits: true };
    await cluster.runJob(batch, 2);
    await cluster.runJob({ queue: "language", name: "language-b", pods: 1, gpus: 8, minAvailable: 1 }, 0);
    await until(
      "language-b is in the queue",
      async () => (await findPodGroup(cluster, "language-b"))?.status.phase === "Inqueue",
    );
    await comeToRest(cluster.admin, [volcanoCollections.queues, volcanoCollections.podGroups]);
  }, 900_000);

  afterAll(async () => {
    await cluster?.stop();
  });

  it("reports what each queue holds, in its status and in thousandths in its metrics", async () => {
    expect(await allocatedGpus(cluster)).toEqual({ batch: 2, default: 0, language: 6, root: 24, vision: 16 });
    const counted = await gpusIn(cluster, "allocated");
    expect([counted.get("vision"), counted.get("language"), counted.get("batch")]).toEqual([16, 6, 2]);
  });

  it("divides by weight what a queue at its capability leaves", async () => {
    const deserved = await gpusIn(cluster, "deserved");
    expect(deserved.get("vision")).toBeCloseTo((22 * 2) / 3, 6);
    expect(deserved.get("language")).toBeCloseTo(22 / 3, 6);
    expect(deserved.get("batch")).toBe(2);
    const overused = sampleValues(await cluster.volcano.metricsPage(), "volcano_queue_overused", "queue_name");
    expect([overused.get("vision"), overused.get("language"), overused.get("batch")]).toEqual([1, 0, 0]);
  });

  it("deserves by weight, guarantee and capability what Fairlead computes", async () => {
    const queues = (spec: object) => cluster.setQueue("vision", { weight: 2, ...spec });
    const read = async (): Promise<readonly (readonly [string, number | null | undefined, number | undefined])[]> => {
      const views = (await lookAt(cluster.server)).view("volcano-deserved");
      const deserved = await gpusIn(cluster, "deserved");
      return ["vision", "language", "batch"].map((name) => [name, views.get(name)?.[0], deserved.get(name)]);
    };
    const gpus = (count: number): object => ({ "nvidia.com/gpu": String(count) });
    const variants = [
      { weight: 2 },
      { weight: 5 },
      { weight: 1, capability: gpus(12) },
      { weight: 1, guarantee: { resource: gpus(13) } },
    ];
    for (const spec of variants) {
      const before = (await gpusIn(cluster, "deserved")).get("vision");
      await queues(spec);
      if (spec !== variants[0]) {
        await until(
          "the scheduler has seen it",
          async () => (await gpusIn(cluster, "deserved")).get("vision") !== before,
        );
      }
      for (const [name, computed, deserved] of await read()) {
        expect([spec, name, computed]).toEqual([spec, name, expect.closeTo(deserved ?? Number.NaN, 6)]);
      }
    }
    await queues({});
    await until("the scheduler has seen it", async () => ((await gpusIn(cluster, "deserved")).get("vision") ?? 0) > 14);
  });

  it("is read by Fairlead with the same numbers", async () => {
    const look = await lookAt(cluster.server);
    for (const name of ["vision", "language", "batch"]) {
      const byScheduler = (await allocatedGpus(cluster))[name];
      expect([name, ...(look.view("volcano-allocated-gpus").get(name) ?? [])]).toEqual([
        name,
        byScheduler,
        byScheduler,
      ]);
      expect([name, look.gpusOf(name).allocated]).toEqual([name, byScheduler]);
      const request = (await gpusIn(cluster, "request")).get(name);
      expect([name, look.gpusOf(name).allocated + look.gpusOf(name).pending]).toEqual([name, request]);
    }
    // The plugin's fair share is Fairlead's entitlement here: nothing is lent, and all that waits can be met.
    expect(look.gpusOf("vision").entitled).toBeCloseTo((22 * 2) / 3, 6);
    expect(look.gpusOf("language").entitled).toBeCloseTo(22 / 3, 6);
  });

  it("leaves GPUs that a job has only in its limits out of minResources", async () => {
    expect((await podGroupOf(cluster, "batch-a")).spec.minResources["nvidia.com/gpu"]).toBeUndefined();
    expect((await podGroupOf(cluster, "language-b")).spec.minResources["nvidia.com/gpu"]).toBe("8");
  });

  it("calls a gang that has lost a pod and cannot place it Unknown", async () => {
    await keep(cluster, "proportion");
    await cordon(cluster.admin, "a100-c");
    const lost = "language-a-worker-5";
    await until("the gang is partial", async () => {
      // The scheduler may not know of the cordon yet, and place it once more.
      if ((await cluster.podsOf("team-language")).get(lost) === "Running") {
        await cluster.admin.send("DELETE", `/api/v1/namespaces/team-language/pods/${lost}?gracePeriodSeconds=0`);
      }
      return (await podGroupOf(cluster, "language-a")).status.phase === "Unknown";
    });
    expect(await podGroupOf(cluster, "language-a")).toMatchObject({ status: { phase: "Unknown", running: 5 } });
    await capture(cluster.server, "volcano-1.15/proportion", { "podGroups.partial": volcanoCollections.podGroups }, {});
  });
});

describe("Volcano 1.15 with the capacity plugin", () => {
  let cluster: VolcanoCluster;
  const deserved: Readonly<Record<string, number>> = { research: 16, vision: 10, language: 6, product: 8 };

  beforeAll(async () => {
    cluster = await startVolcanoCluster("capacity", {
      research: { deserved: gpuShare(16), guarantee: { resource: gpuShare(4) } },
      vision: { parent: "research", deserved: gpuShare(10), guarantee: { resource: gpuShare(4) } },
      language: { parent: "research", deserved: gpuShare(6) },
      product: { parent: "root", deserved: gpuShare(8), capability: gpuShare(12) },
    });
    await cluster.runJob({ queue: "product", name: "product-a", pods: 14, gpus: 1, minAvailable: 1 }, 12);
    await cluster.runJob({ queue: "vision", name: "vision-a", pods: 12, gpus: 1, minAvailable: 1 }, 12);
    await cluster.runJob({ queue: "language", name: "language-a", pods: 6, gpus: 1, minAvailable: 6 }, 6);
    await comeToRest(cluster.admin, [volcanoCollections.queues, volcanoCollections.podGroups]);
  }, 900_000);

  afterAll(async () => {
    await cluster?.stop();
  });

  it("takes back for a queue below what it deserves, and counts parents", async () => {
    const byScheduler = await allocatedGpus(cluster);
    expect(byScheduler).toMatchObject({ language: 6, root: 24, research: 24 - (byScheduler.product ?? 0) });
    expect((byScheduler.vision ?? 0) + (byScheduler.product ?? 0)).toBe(18);
    for (const [name, gpus] of await gpusIn(cluster, "allocated")) expect(gpus).toBe(byScheduler[name]);
  });

  it("shows what queues deserve, and their share of it", async () => {
    const byScheduler = await allocatedGpus(cluster);
    const shown = await gpusIn(cluster, "deserved");
    const page = await cluster.volcano.metricsPage();
    const shares = sampleValues(page, "volcano_queue_share", "queue_name");
    const overused = sampleValues(page, "volcano_queue_overused", "queue_name");
    for (const [name, gpus] of Object.entries(deserved)) {
      expect(shown.get(name)).toBe(gpus);
      expect(shares.get(name)).toBeCloseTo((byScheduler[name] ?? 0) / gpus, 6);
      expect(overused.get(name)).toBe((byScheduler[name] ?? 0) > gpus ? 1 : 0);
    }
    await keep(cluster, "capacity");
  });

  it("is read by Fairlead with the same numbers", async () => {
    const look = await lookAt(cluster.server, "capacity");
    const byScheduler = await allocatedGpus(cluster);
    const shares = sampleValues(await cluster.volcano.metricsPage(), "volcano_queue_share", "queue_name");
    for (const [name, gpus] of Object.entries(deserved)) {
      expect([name, ...(look.view("volcano-allocated-gpus").get(name) ?? [])]).toEqual([
        name,
        byScheduler[name],
        byScheduler[name],
      ]);
      expect([name, look.view("volcano-deserved").get(name)?.[0]]).toEqual([name, gpus]);
      expect([name, look.view("volcano-share").get(name)?.[0]]).toEqual([
        name,
        expect.closeTo(shares.get(name) ?? Number.NaN, 6),
      ]);
      const request = (await gpusIn(cluster, "request")).get(name);
      expect([name, look.gpusOf(name).allocated + look.gpusOf(name).pending]).toEqual([name, request]);
    }
  });

  it("keeps the condition Unschedulable true after the gang has started", async () => {
    const { conditions } = (await podGroupOf(cluster, "language-a")).status;
    expect(conditions).toMatchObject([
      { type: "Unschedulable", status: "True" },
      { type: "Scheduled", status: "True" },
    ]);
  });
});
