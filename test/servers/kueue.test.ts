import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { capture, familiesOf, readList } from "./queues/capture.ts";
import { conditionsOf, type KueueCluster, kueueCollections, startKueueCluster } from "./queues/kueueCluster.ts";
import { lookAt, type Watcher, watchCluster } from "./queues/lookAt.ts";
import { sampleValues } from "./queues/samples.ts";

const resources = z.array(
  z.looseObject({
    name: z.string(),
    resources: z.array(z.looseObject({ name: z.string(), total: z.string(), borrowed: z.string().optional() })),
  }),
);
const queue = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
  status: z.looseObject({
    fairSharing: z.looseObject({
      weightedShare: z.number(),
      admissionFairSharingStatus: z.looseObject({ consumedResources: z.record(z.string(), z.string()) }).optional(),
    }),
    flavorsReservation: resources.default([]),
    flavorsUsage: resources.default([]),
    pendingWorkloads: z.number().optional(),
  }),
});

/** GPUs by flavor: what is allocated, and how much of it is borrowed. */
function gpusOf(usage: z.output<typeof resources>): Readonly<Record<string, readonly (number | null)[]>> {
  return Object.fromEntries(
    usage.map(({ name, resources: all }) => {
      const gpus = all.find((resource) => resource.name === "nvidia.com/gpu");
      return [name, [Number(gpus?.total), gpus?.borrowed === undefined ? null : Number(gpus.borrowed)]];
    }),
  );
}

describe("Kueue 0.19 with fair sharing", () => {
  let cluster: KueueCluster;
  let watcher: Watcher;

  beforeAll(async () => {
    cluster = await startKueueCluster({
      beforeJobs: async (server) => {
        watcher = await watchCluster(server);
      },
    });
  }, 900_000);

  afterAll(async () => {
    await watcher?.stop();
    await cluster?.stop();
  });

  const statuses = async (collection: string): Promise<ReadonlyMap<string, z.output<typeof queue>["status"]>> => {
    const { items } = await readList(cluster.server, collection);
    return new Map(
      z
        .array(queue)
        .parse(items)
        .map(({ metadata, status }) => [metadata.name, status]),
    );
  };

  it("reports what each queue holds, borrows and waits for", async () => {
    const queues = await statuses(kueueCollections.clusterQueues);
    const allocated = [...queues].map(([name, { flavorsUsage, pendingWorkloads }]) => [
      name,
      gpusOf(flavorsUsage),
      pendingWorkloads,
    ]);
    expect(allocated).toEqual([
      ["language", { a100: [8, 0], h100: [8, 4] }, 0],
      ["product", { a100: [4, 0], h100: [8, 0] }, 3],
      ["vision", { a100: [11, 3], h100: [0, 0] }, 1],
    ]);
    for (const { flavorsReservation, flavorsUsage } of queues.values())
      expect(flavorsReservation).toEqual(flavorsUsage);
  });

  it("rounds weighted shares up in objects, and says them exactly in its metrics", async () => {
    const shares = async (collection: string): Promise<object> =>
      Object.fromEntries(
        [...(await statuses(collection))].map(([name, { fairSharing }]) => [name, fairSharing.weightedShare]),
      );
    expect(await shares(kueueCollections.clusterQueues)).toEqual({ language: 53, product: 0, vision: 79 });
    expect(await shares(kueueCollections.cohorts)).toEqual({ company: 0, research: 40 });
    const page = await cluster.kueue.metricsPage();
    const exact = sampleValues(page, "kueue_cluster_queue_weighted_share", "cluster_queue");
    expect(exact.get("language")).toBeCloseTo((1000 * 4) / 38 / 2, 9);
    expect(exact.get("vision")).toBeCloseTo((1000 * 3) / 38, 9);
    expect(sampleValues(page, "kueue_cohort_weighted_share", "cohort").get("research")).toBeCloseTo(
      (1000 * 3) / 38 / 2,
      9,
    );
  });

  it("keeps the trace of an eviction until quota is reserved anew", async () => {
    expect(await conditionsOf(cluster.admin, "vision-borrows")).toMatchObject({
      QuotaReserved: "False: Pending",
      Evicted: "True: Preempted",
      Preempted: "True: InCohortReclamation",
      Requeued: "True: Preempted",
    });
  });

  it("shows Fairlead, which watched, what the eviction took from whom, and who got it", async () => {
    const { evicted } = watcher.look().snapshot.queueing;
    expect(evicted).toMatchObject([
      {
        scheduler: "kueue",
        namespace: "team-vision",
        name: expect.stringMatching(/^job-vision-borrows-/),
        queue: "vision",
        reason: "InCohortReclamation",
        isPreemption: true,
        preemptor: { name: "team-language/language-late", queue: "language" },
        gpus: 8,
      },
    ]);
  });

  it("does not say in a reason that a demand can never be met", async () => {
    for (const name of ["product-waits", "product-too-big", "product-no-such-card"]) {
      expect(await conditionsOf(cluster.admin, name)).toMatchObject({ QuotaReserved: "False: Pending" });
    }
  });

  it("is read by Fairlead with the same numbers", async () => {
    const look = await lookAt(cluster.server);
    const page = await cluster.kueue.metricsPage();
    const exact = new Map([
      ...sampleValues(page, "kueue_cluster_queue_weighted_share", "cluster_queue"),
      ...sampleValues(page, "kueue_cohort_weighted_share", "cohort"),
    ]);
    const shares = look.view("kueue-weighted-share");
    expect([...shares.keys()].sort()).toEqual(["company", "language", "product", "research", "vision"]);
    for (const [name, [computed, reported]] of shares) {
      expect([name, computed]).toEqual([name, expect.closeTo(exact.get(name) ?? Number.NaN, 9)]);
      expect([name, Math.ceil(computed ?? Number.NaN)]).toEqual([name, reported]);
    }
    for (const [name, { flavorsReservation }] of await statuses(kueueCollections.clusterQueues)) {
      const gpus = Object.values(gpusOf(flavorsReservation));
      const total = gpus.reduce((sum, [allocated]) => sum + (allocated ?? 0), 0);
      const borrowed = gpus.reduce((sum, [, lent]) => sum + (lent ?? 0), 0);
      expect([name, ...(look.view("kueue-reserved-gpus").get(name) ?? [])]).toEqual([name, total, total]);
      expect([name, look.gpusOf(name).reserved, look.borrowed(name)]).toEqual([name, total, borrowed]);
    }
  });

  it("is read by Fairlead with the pods that hold GPUs, and only the demand that can be met", async () => {
    const look = await lookAt(cluster.server);
    // language-borrows has one of two pods; the notebook, made without a job, has none.
    const allocated = (name: string): readonly number[] => [look.gpusOf(name).allocated, look.gpusOf(name).pending];
    expect({ vision: allocated("vision"), language: allocated("language"), product: allocated("product") }).toEqual({
      vision: [11, 8],
      language: [12, 4],
      product: [11, 9],
    });
    // Kueue's own count of pending GPUs has the two jobs that can never start.
    const pending = sampleValues(
      (await cluster.kueue.metricsPage()).replace(/^.*resource="cpu".*$/gm, ""),
      "kueue_cluster_queue_resource_pending",
      "cluster_queue",
    );
    expect(Object.fromEntries(pending)).toEqual({ vision: 8, language: 0, product: 8 + 64 + 1 });
    const never = look.snapshot.queueing.gangs.filter((gang) => gang.never !== null).map(({ name }) => name);
    expect(never.sort()).toEqual(["product-no-such-card", "product-too-big"]);
  });

  it("writes an admission history whose quantities go down to 10^-9", async () => {
    const [history] = [...(await statuses(kueueCollections.localQueues)).values()].flatMap(
      ({ fairSharing }) => fairSharing.admissionFairSharingStatus?.consumedResources["nvidia.com/gpu"] ?? [],
    );
    expect(history).toMatch(/^[0-9]+[num]?$/);
    const page = familiesOf(await cluster.kueue.metricsPage(), "kueue_");
    await capture(cluster.server, "kueue-0.19", kueueCollections, { metrics: page });
  });
});

describe("Kueue 0.19 with tiered reasons", () => {
  it("distinguishes what waits and what can never be met", async () => {
    const cluster = await startKueueCluster({ tieredReasons: true });
    try {
      const reasonOf = async (name: string): Promise<string | undefined> =>
        (await conditionsOf(cluster.admin, name)).QuotaReserved;
      expect(await reasonOf("product-waits")).toBe("False: WaitingForQuota");
      expect(await reasonOf("product-too-big")).toBe("False: ExceedsMaxQuota");
      expect(await reasonOf("product-no-such-card")).toBe("False: NoMatchingFlavor");
      expect(await reasonOf("vision-borrows")).toBe("False: WaitingForQuota");
      const { snapshot } = await lookAt(cluster.server);
      const never = new Map(snapshot.queueing.gangs.map((gang) => [gang.name, gang.never]));
      expect(["product-waits", "product-too-big", "product-no-such-card"].map((name) => never.get(name))).toEqual([
        null,
        "above-limit",
        "no-node",
      ]);
      await capture(cluster.server, "kueue-0.19", { "workloads.tieredReasons": kueueCollections.workloads }, {});
    } finally {
      await cluster.stop();
    }
  }, 900_000);
});
