import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { kueueViews } from "../../../exporter/analysis/schedulerViews/kueueViews.ts";
import type { KueueClusterQueue, KueueCohort, KueueQuota } from "../../../exporter/model/queues/kueue.ts";
import { noQueueObjects, type QueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import type { Decoded } from "../../../exporter/sources/kubernetes/decoded.ts";
import { decodeClusterQueue, decodeCohort } from "../../../exporter/sources/kubernetes/queues/decodeKueueQueues.ts";
import { decodeWorkload } from "../../../exporter/sources/kubernetes/queues/decodeWorkload.ts";
import {
  admission,
  clusterQueue as clusterQueueRow,
  cohort,
  quota as flavorQuota,
  workload,
} from "../../queues/kueueRows.ts";

const gpu = "nvidia.com/gpu";
const isGpu = (resource: string): boolean => resource === gpu;

const quota = (nominal: number, changes: Partial<KueueQuota> = {}): KueueQuota => flavorQuota("f", nominal, changes);

/** A ClusterQueue of the cohort `c`, and how much of flavor `f` it uses. */
function clusterQueue(
  name: string,
  used: number,
  changes: Partial<KueueClusterQueue> = {},
): readonly [KueueClusterQueue, number] {
  return [clusterQueueRow(name, [quota(8)], { cohort: "c", ...changes }), used];
}

function objectsOf(
  queues: readonly (readonly [KueueClusterQueue, number])[],
  kueueCohorts: readonly KueueCohort[] = [],
): QueueObjects {
  return {
    ...noQueueObjects,
    kueueCohorts,
    kueueClusterQueues: queues.map(([queue]) => queue),
    kueueWorkloads: queues.map(([{ name }, used]) => workload(name, [], admission(name, "f", 1, used))),
  };
}

function shareOf(objects: QueueObjects, name: string): number | null | undefined {
  return kueueViews(objects, null, isGpu).find((view) => view.number === "kueue-weighted-share" && view.name === name)
    ?.computed;
}

describe("Kueue's weighted share", () => {
  it("is 1000 x borrowed / lendable / weight", () => {
    const objects = objectsOf([clusterQueue("a", 12, { weight: 2 }), clusterQueue("b", 0)]);
    expect(shareOf(objects, "a")).toBe((1000 * 4) / 16 / 2);
    expect(shareOf(objects, "b")).toBe(0);
  });

  it("is infinite for weight 0 while borrowing, and 0 without a cohort", () => {
    expect(shareOf(objectsOf([clusterQueue("a", 9, { weight: 0 }), clusterQueue("b", 0)]), "a")).toBe(
      Number.POSITIVE_INFINITY,
    );
    expect(shareOf(objectsOf([clusterQueue("a", 7, { weight: 0 }), clusterQueue("b", 0)]), "a")).toBe(0);
    expect(shareOf(objectsOf([clusterQueue("a", 9, { cohort: null })]), "a")).toBe(0);
  });

  it("counts as lendable only what lending limits let go", () => {
    const objects = objectsOf([
      clusterQueue("a", 12),
      clusterQueue("b", 0, { quotas: [quota(8, { lendingLimit: 4 })] }),
    ]);
    expect(shareOf(objects, "a")).toBe((1000 * 4) / 12);
  });

  it("leaves a tree with a cycle out", () => {
    const objects = objectsOf([clusterQueue("a", 12)], [cohort("c", "d"), cohort("d", "c")]);
    expect(shareOf(objects, "a")).toBeUndefined();
  });
});

const captured = new URL("../../captured/queues/kueue-0.19/", import.meta.url);

function rows<Row>(file: string, decode: (value: unknown) => Decoded<Row>): readonly Row[] {
  const list: unknown = JSON.parse(readFileSync(fileURLToPath(new URL(file, captured)), "utf8"));
  if (typeof list !== "object" || list === null || !("items" in list) || !Array.isArray(list.items))
    throw new Error(file);
  return list.items.map((item) => {
    const decoded = decode(item);
    if (!decoded.ok) throw new Error(decoded.problem.message);
    return decoded.value;
  });
}

describe("objects of a real Kueue controller", () => {
  const views = kueueViews(
    {
      ...noQueueObjects,
      kueueClusterQueues: rows("clusterQueues.json", decodeClusterQueue),
      kueueCohorts: rows("cohorts.json", decodeCohort),
      kueueWorkloads: rows("workloads.json", decodeWorkload),
    },
    null,
    isGpu,
  );

  it("its own weighted shares are ours, rounded up", () => {
    const shares = views.filter(({ number, reported }) => number === "kueue-weighted-share" && reported !== null);
    expect(shares.length).toBeGreaterThan(3);
    expect(shares.some(({ computed }) => (computed ?? 0) > 0)).toBe(true);
    for (const { computed, reported } of shares)
      expect(Math.ceil((computed ?? -1) - 1e-9)).toBeCloseTo(reported ?? -1, 9);
  });

  it("its reserved GPUs are the sums of its workloads", () => {
    const reserved = views.filter(({ number, reported }) => number === "kueue-reserved-gpus" && reported !== null);
    expect(reserved.some(({ computed }) => (computed ?? 0) > 0)).toBe(true);
    for (const { computed, reported } of reserved) expect(computed).toBe(reported);
  });
});
