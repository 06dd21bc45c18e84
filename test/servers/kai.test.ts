import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { until } from "./kubernetesAdmin.ts";
import { capture, familiesOf, readList } from "./queues/capture.ts";
import { comeToRest } from "./queues/comeToRest.ts";
import {
  type FairshareSimulator,
  type SharingQueue,
  sharingCases,
  startFairshareSimulator,
} from "./queues/fairshareSimulator.ts";
import { type KaiCluster, kaiCollections, startKaiCluster } from "./queues/kaiCluster.ts";
import { runFractions } from "./queues/kaiFractions.ts";
import type { KaiJob, KaiQueueWanted } from "./queues/kaiObjects.ts";
import { lookAt } from "./queues/lookAt.ts";
import { sampleValues } from "./queues/samples.ts";

const folder = "kai-0.12";
const amounts = z.record(z.string(), z.string()).default({});
const queue = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  status: z.looseObject({ allocated: amounts, requested: amounts, childQueues: z.array(z.string()).optional() }),
});
const podGroup = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({ minMember: z.number(), priorityClassName: z.string() }),
  status: z.looseObject({
    schedulingConditions: z
      .array(z.looseObject({ type: z.string(), reasons: z.array(z.looseObject({ reason: z.string() })).default([]) }))
      .default([]),
  }),
});

let simulator: FairshareSimulator;

beforeAll(async () => {
  simulator = await startFairshareSimulator();
}, 900_000);

afterAll(async () => {
  await simulator?.stop();
});

const siblings = (...queues: readonly (readonly [name: string, quota: number, weight: number, requested: number])[]) =>
  queues.map(([name, quota, overQuotaWeight, requested]): SharingQueue => {
    return { name, priority: 100, quota, limit: -1, overQuotaWeight, requested };
  });

describe("KAI's fair-share simulator", () => {
  it("divides the surplus by weight, in whole GPUs", async () => {
    const fits = { gpus: 24, queues: siblings(["a", 8, 3, 24], ["b", 4, 1, 24]) };
    expect(await simulator.fairShares(fits)).toEqual({ a: 17, b: 7 });
    const breaks = { gpus: 16, queues: siblings(["vision", 8, 2, 12], ["language", 6, 1, 12]) };
    expect(await simulator.fairShares(breaks)).toEqual({ vision: 9, language: 7 });
  });

  it("gives nothing above the quota to a queue of weight 0", async () => {
    const asked = { gpus: 24, queues: siblings(["a", 8, 0, 24], ["b", 4, 1, 6]) };
    expect(await simulator.fairShares(asked)).toEqual({ a: 8, b: 6 });
  });

  it("answers the same question twice alike", async () => {
    const cases = [];
    for (const asked of sharingCases(120)) {
      const shares = await simulator.fairShares(asked);
      expect(await simulator.fairShares(asked)).toEqual(shares);
      for (const { name, limit, requested } of asked.queues) {
        expect(shares[name]).toBeLessThanOrEqual(limit < 0 ? requested : Math.min(requested, limit));
      }
      cases.push({ ...asked, fairShares: shares });
    }
    const root = process.env.FAIRLEAD_CAPTURE;
    if (!root) return;
    await mkdir(join(root, folder), { recursive: true });
    const lines = cases.map((each) => `  ${JSON.stringify(each)}`).join(",\n");
    await writeFile(join(root, folder, "fairshareSimulator.json"), `[\n${lines}\n]\n`);
  });
});

describe("KAI 0.12", () => {
  let cluster: KaiCluster;
  const vision: KaiJob = { queue: "vision", name: "vision-a", pods: 12, gpus: 1 };
  const product: KaiJob = { queue: "product", name: "product-a", pods: 10, gpus: 1 };
  const queues: readonly KaiQueueWanted[] = [
    { name: "research", quota: 16, limit: -1, overQuotaWeight: 1 },
    { name: "apps", quota: 8, limit: -1, overQuotaWeight: 1 },
    { name: "vision", parent: "research", quota: 8, limit: -1, overQuotaWeight: 2 },
    { name: "language", parent: "research", quota: 6, limit: -1, overQuotaWeight: 1, priority: 100 },
    { name: "product", parent: "apps", quota: 8, limit: 12, overQuotaWeight: 1 },
  ];

  beforeAll(async () => {
    cluster = await startKaiCluster(queues);
    await cluster.runJob(vision, 12);
    await cluster.runJob(product, 10);
    await cluster.runJob({ queue: "language", name: "language-a", pods: 4, gpus: 1, gang: true }, 4);
    await cluster.runJob({ queue: "language", name: "language-b", pods: 8, gpus: 1, gang: true }, 0);
    await cluster.allBack();
    await comeToRest(cluster.admin, [kaiCollections.queues, kaiCollections.podGroups, kaiCollections.pods]);
  }, 900_000);

  afterAll(async () => {
    await cluster?.stop();
  });

  /** GPUs that each queue holds and asks for, as its status says. */
  const statuses = async (): Promise<Readonly<Record<string, readonly [allocated: number, requested: number]>>> => {
    const { items } = await readList(cluster.server, kaiCollections.queues);
    const gpus = (of: Readonly<Record<string, string>>): number => Number(of["nvidia.com/gpu"] ?? 0);
    return Object.fromEntries(
      z
        .array(queue)
        .parse(items)
        .map(({ metadata, status }) => [metadata.name, [gpus(status.allocated), gpus(status.requested)]]),
    );
  };

  it("takes back what goes beyond a fair share, for a gang within its quota", async () => {
    expect(await statuses()).toEqual({
      apps: [8, 10],
      language: [4, 12],
      product: [8, 10],
      research: [16, 24],
      vision: [12, 12],
    });
  });

  it("counts in its queue controller what the status says, and in its scheduler fair shares by display name", async () => {
    const allocated = sampleValues(await cluster.kai.queuePage(), "kai_queue_allocated_gpus", "queue_name");
    for (const [name, [gpus]] of Object.entries(await statuses())) expect(allocated.get(name)).toBe(gpus);
    const shares = sampleValues(await cluster.kai.schedulerPage(), "kai_queue_fair_share_gpu", "queue_name");
    expect([...shares.keys()].sort()).toEqual(queues.map(({ name }) => `${name} (GPU)`).sort());
  });

  it("has the fair shares that its simulator computes level by level", async () => {
    const shares = sampleValues(await cluster.kai.schedulerPage(), "kai_queue_fair_share_gpu", "queue_name");
    const requested = await statuses();
    const level = async (gpus: number, parent: string | undefined): Promise<void> => {
      const children = queues.filter((each) => each.parent === parent);
      const asked = children.map((each) => ({ priority: 100, ...each, requested: requested[each.name]?.[1] ?? 0 }));
      const expected = await simulator.fairShares({ gpus, queues: asked });
      for (const { name } of children) {
        expect([name, shares.get(`${name} (GPU)`)]).toEqual([name, expected[name]]);
        if (parent === undefined) await level(expected[name] ?? 0, name);
      }
    };
    await level(24, undefined);
    expect([shares.get("vision (GPU)"), shares.get("language (GPU)")]).toEqual([9, 7]);
  });

  it("is read by Fairlead with the same numbers", async () => {
    const look = await lookAt(cluster.server);
    const shares = sampleValues(await cluster.kai.schedulerPage(), "kai_queue_fair_share_gpu", "queue_name");
    for (const [name, [allocated, requested]] of Object.entries(await statuses())) {
      expect([name, ...(look.view("kai-allocated-gpus").get(name) ?? [])]).toEqual([name, allocated, allocated]);
      expect([name, look.gpusOf(name).allocated, look.gpusOf(name).pending]).toEqual([
        name,
        allocated,
        requested - allocated,
      ]);
      expect([name, look.view("kai-fair-share").get(name)?.[0]]).toEqual([name, shares.get(`${name} (GPU)`)]);
    }
    // Without whole GPUs: what is above the quotas of 8 and 6 is shared 2 to 1.
    expect(look.gpusOf("vision").entitled).toBeCloseTo(8 + 4 / 3, 9);
    expect(look.gpusOf("language").entitled).toBeCloseTo(6 + 2 / 3, 9);
  });

  it("says why a gang can never start, and makes a group of each pod of a Job", async () => {
    const never = { queue: "language", name: "language-c", pods: 8, gpus: 1, gang: true, priorityClass: "build" };
    await cluster.runJob(never, 0);
    const read = async () => z.array(podGroup).parse((await readList(cluster.server, kaiCollections.podGroups)).items);
    const isNever = ({ metadata }: z.output<typeof podGroup>): boolean => metadata.name.startsWith("pg-language-c-");
    await until("the scheduler has said why", async () =>
      (await read()).some((group) => isNever(group) && group.status.schedulingConditions.length > 0),
    );
    await comeToRest(cluster.admin, [kaiCollections.queues, kaiCollections.podGroups, kaiCollections.pods]);
    const groups = await read();
    const waiting = groups.find(isNever);
    expect(waiting?.spec).toMatchObject({ minMember: 8, priorityClassName: "build" });
    expect(waiting?.status.schedulingConditions).toMatchObject([
      { type: "UnschedulableOnNodePool", reasons: [{ reason: "NonPreemptibleOverQuota" }] },
    ]);
    const ofJob = groups.filter(({ metadata }) => metadata.name.startsWith("pg-vision-a-"));
    expect(ofJob.map(({ spec }) => spec.minMember)).toEqual(Array.from({ length: 12 }, () => 1));
    const look = await lookAt(cluster.server);
    const reasons = look.snapshot.queueing.gangs.map(({ name, never }) => [name, never]);
    expect(reasons).toContainEqual(["language-b", null]);
    expect(reasons).toContainEqual(["language-c", "above-limit"]);
    await capture(cluster.server, folder, kaiCollections, {
      schedulerMetrics: familiesOf(await cluster.kai.schedulerPage(), "kai_"),
      queueMetrics: familiesOf(await cluster.kai.queuePage(), "kai_"),
    });
  });
});

describe("KAI 0.12 with shared GPUs", () => {
  it("counts parts of GPUs, and so does Fairlead", async () => {
    const cluster = await startKaiCluster([
      { name: "research", quota: 8, limit: -1, overQuotaWeight: 1 },
      { name: "vision", parent: "research", quota: 4, limit: -1, overQuotaWeight: 1 },
    ]);
    try {
      await runFractions(cluster, "vision", ["half-a", "half-b", "half-c"], "0.5");
      await comeToRest(cluster.admin, [kaiCollections.queues, kaiCollections.podGroups, kaiCollections.pods]);
      const { items } = await readList(cluster.server, kaiCollections.queues);
      const status = z
        .array(queue)
        .parse(items)
        .find(({ metadata }) => metadata.name === "vision")?.status;
      expect(status?.allocated["nvidia.com/gpu"]).toBe("1500m");
      const look = await lookAt(cluster.server);
      // Which GPU holds which half is KAI's choice, and with it the order in which parts are added up.
      expect(look.view("kai-allocated-gpus").get("vision")).toEqual([expect.closeTo(1.5, 9), 1.5]);
      expect(look.gpusOf("vision").allocated).toBeCloseTo(1.5, 9);
      expect(look.gpusOf("Unqueued").allocated).toBe(0);
      const { pods, podGroups, queues, bindRequests } = kaiCollections;
      await capture(cluster.server, `${folder}/fractions`, { pods, podGroups, queues, bindRequests }, {});
    } finally {
      await cluster.stop();
    }
  }, 900_000);
});
