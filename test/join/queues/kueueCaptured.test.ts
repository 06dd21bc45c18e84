import { describe, expect, it } from "vitest";
import { join } from "../../../exporter/join/join.ts";
import { emptyMemory } from "../../../exporter/join/memory.ts";
import type { QueueView } from "../../../exporter/join/queues/queueing.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import { defaultSettings } from "../outcomes.ts";
import { kueueCluster, kueueMetric, kueueObjects } from "./capturedKueue.ts";

const { kueueWorkloads } = kueueObjects();
const times = kueueWorkloads.flatMap(({ conditions }) => conditions.map(({ changedAt }) => changedAt ?? 0));
const justAfter = Math.max(...times) + 9;
const pools = { a100: "A100-SXM4-80GB", h100: "H100-80GB-HBM3" } as const;

const snapshotAt = (at: number, queues = kueueObjects()): Snapshot =>
  join(kueueCluster(queues), emptyMemory, defaultSettings, at).snapshot;

const snapshot = snapshotAt(justAfter);
const { queueing } = snapshot;

function queueIn(name: string, flavor: string): QueueView {
  const pool = flavor === "a100" ? pools.a100 : pools.h100;
  const found = queueing.queues.find(
    (queue) => queue.name === name && queueing.domains[queue.domain]?.name === pool && queue.kind !== "Scheduler",
  );
  if (found === undefined) throw new Error(`no queue ${name} in ${pool}`);
  return found;
}

/** Samples of GPUs by queue (or cohort) and flavor. */
function gpuMetric(name: string, label: "cluster_queue" | "cohort") {
  const samples = kueueMetric(name).filter(({ labels }) => labels.resource === "nvidia.com/gpu");
  expect(samples.length).toBeGreaterThan(3);
  return samples.map(({ labels, value }) => ({ queue: queueIn(labels[label] ?? "", labels.flavor ?? ""), value }));
}

const gang = (name: string, of = queueing) => {
  const found = of.gangs.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no gang ${name}`);
  return found;
};

describe("what a real Kueue 0.19 reports in its metrics is what its objects are read as", () => {
  it("nominal quotas", () => {
    for (const { queue, value } of gpuMetric("kueue_cluster_queue_nominal_quota", "cluster_queue"))
      expect(queue.guaranteed).toBe(value);
  });

  it("borrowing limits", () => {
    for (const { queue, value } of gpuMetric("kueue_cluster_queue_borrowing_limit", "cluster_queue"))
      expect(queue.limit - queue.guaranteed).toBe(value);
  });

  it("reservations of queues", () => {
    for (const { queue, value } of gpuMetric("kueue_cluster_queue_resource_reservation", "cluster_queue"))
      expect(queue.reserved).toBe(value);
  });

  it("reservations of cohorts", () => {
    for (const { queue, value } of gpuMetric("kueue_cohort_subtree_resource_reservations", "cohort"))
      expect(queue.reserved).toBe(value);
  });

  it("subtree quotas, which leave out what lending limits keep back: what the subtree may lend", () => {
    for (const { queue, value } of gpuMetric("kueue_cohort_subtree_quota", "cohort"))
      if (queue.name === "research") expect(Math.min(queue.guaranteed, queue.lendingLimit)).toBe(value);
    // The root's own is 22, and Kueue itself has reserved 23: with the 2 that language keeps, 24 can be allocated.
    expect(queueIn("company", "a100")).toMatchObject({ guaranteed: 24, limit: 24, reserved: 23 });
  });

  it("pending GPUs, as the sum of what waits without quota", () => {
    for (const { labels, value } of kueueMetric("kueue_cluster_queue_resource_pending")) {
      if (labels.resource !== "nvidia.com/gpu") continue;
      const waiting = queueing.gangs.filter((one) => one.queue === labels.cluster_queue && one.reservedAt === null);
      expect(waiting.reduce((sum, one) => sum + (one.gpus ?? 0), 0)).toBe(value);
    }
  });
});

describe("the queues of a real Kueue", () => {
  it("hold what their pods hold", () => {
    const allocated = ["vision", "language", "product", "research", "company"].map((name) => [
      name,
      queueIn(name, "a100").allocated,
      queueIn(name, "h100").allocated,
    ]);
    expect(allocated).toEqual([
      ["vision", 11, 0],
      ["language", 8, 4],
      ["product", 3, 8],
      ["research", 19, 4],
      ["company", 22, 12],
    ]);
  });

  it("are under their cohorts, with weights and order of service", () => {
    const { research, language } = { research: queueIn("research", "a100"), language: queueIn("language", "a100") };
    expect(queueing.queues[language.parent ?? -1]).toBe(research);
    expect(queueing.queues[research.parent ?? -1]).toBe(queueIn("company", "a100"));
    expect(language).toMatchObject({ weight: 2, isStrictOrder: true, lendingLimit: 6, zeroWeight: "last" });
    expect(queueIn("product", "a100")).toMatchObject({ isStrictOrder: false, limit: 12 });
  });

  it("are named by their pods and workloads", () => {
    const pod = snapshot.pods.find(({ name }) => name === "vision-own-0");
    expect(pod?.queue).toBe("vision");
    expect(snapshot.workloads[pod?.workload ?? -1]).toMatchObject({ queue: "vision", localQueue: "main" });
    expect(
      queueing.queues[queueing.queueOfPod[snapshot.pods.findIndex(({ name }) => name === "vision-own-0")] ?? -1],
    ).toBe(queueIn("vision", "a100"));
  });
});

describe("the work that waits in a real Kueue", () => {
  it("waits in the first flavor that its pods allow", () => {
    const [part] = gang("product-waits").parts;
    expect(queueing.queues[part?.queue ?? -1]).toBe(queueIn("product", "h100"));
    expect(gang("product-waits")).toMatchObject({
      kind: "Job",
      gpus: 8,
      pods: 1,
      priorityClass: "routine",
      never: null,
    });
  });

  it("counts from when it was put back into the queue", () => {
    const { uid, since } = gang("vision-borrows");
    const workload = kueueWorkloads.find((one) => one.uid === uid);
    expect(since).toBe(workload?.conditions.find(({ type }) => type === "Requeued")?.changedAt);
    expect(since).toBeGreaterThan(workload?.createdAt ?? Number.POSITIVE_INFINITY);
    expect(queueIn("vision", "a100").pending).toBe(8);
  });

  it("is the missing member of a gang that has quota", () => {
    expect(gang("language-borrows")).toMatchObject({ bound: 1, min: 2, pods: 1, gpus: 4, notReadyPods: 0 });
    expect(gang("language-borrows").reservedAt).not.toBeNull();
    expect(queueIn("language", "h100").pending).toBe(4);
  });

  it.each([
    ["in its own words", ".tieredReasons"],
    ["in older words, by its limits and nodes", ""],
  ])("is no demand where it can never run: %s", (_, reasons) => {
    const found = snapshotAt(justAfter, kueueObjects("", `workloads${reasons}.json`)).queueing;
    expect(gang("product-too-big", found)).toMatchObject({ never: "above-limit", gpus: 64 });
    expect(gang("product-no-such-card", found)).toMatchObject({ never: "no-node", gpus: 1 });
    expect(gang("product-waits", found).never).toBeNull();
    expect(found.queues.filter(({ name }) => name === "product").map(({ pending }) => pending)).toEqual([1, 8]);
  });

  it("has started where all members run, and is reported for a quarter of an hour", () => {
    const started = queueing.started.map(({ gpus }) => gpus).sort();
    expect(started).toEqual([3, 3, 4, 4, 8, 8]);
    expect(snapshotAt(justAfter + 901).queueing.started).toEqual([]);
  });

  it("is the same in the older version of the API", () => {
    expect(snapshotAt(justAfter, kueueObjects(".v1beta1")).queueing).toEqual(queueing);
  });
});
