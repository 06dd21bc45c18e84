import { describe, expect, it } from "vitest";
import type { QueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { localQueue } from "../../queues/kueueRows.ts";
import { nodeView } from "../momentBuilder.ts";
import { clusterQueue, cohort, flavor, gpuQuota } from "../queueObjectBuilder.ts";
import { found, kueueSettings as kueue, lint } from "./lint.ts";

const queues = (...kueueClusterQueues: QueueObjects["kueueClusterQueues"]) => ({ kueueClusterQueues });
const never = { reclaimWithinCohort: "Never", withinClusterQueue: "Never", borrowWithinCohort: "Never" };
const byUsage = { admissionMode: "UsageBasedAdmissionFairSharing" };
const memory = gpuQuota(1e12, { resource: "memory" });

describe("Kueue", () => {
  it("admission fair sharing without a half-life", () => {
    const objects = queues(clusterQueue("a", byUsage));
    const code = "kueue-admission-fairness-without-half-life";
    expect(found(code, objects, kueue({ halfLifeSeconds: 0 }))).toEqual(["Configuration kueue"]);
    expect(found(code, objects, kueue({}))).toEqual([]);
    expect(found(code, objects)).toEqual([]);
    expect(found(code, queues(clusterQueue("a")), kueue({ halfLifeSeconds: 0 }))).toEqual([]);
  });

  it("admission fair sharing by bytes of memory", () => {
    const code = "kueue-admission-fairness-memory-weight";
    const objects = queues(clusterQueue("a", { ...byUsage, quotas: [gpuQuota(8), memory] }));
    const weights = (resourceWeights: Record<string, number>) => kueue({ resourceWeights });
    expect(found(code, objects, weights({}))).toEqual(["Configuration kueue"]);
    expect(found(code, objects, weights({ memory: 0 }))).toEqual([]);
    expect(found(code, objects, weights({ memory: 1e-10 }))).toEqual([]);
    expect(found(code, objects, weights({ "nvidia.com/gpu": 1e12 }))).toEqual([]);
    expect(found(code, queues(clusterQueue("a", byUsage)), weights({}))).toEqual([]);
  });

  it("an admission mode that its configuration does not know", () => {
    const objects = queues(clusterQueue("a", byUsage), clusterQueue("b"));
    expect(found("kueue-admission-mode-ignored", objects, kueue(null))).toEqual(["ClusterQueue a"]);
    expect(found("kueue-admission-mode-ignored", objects, kueue({}))).toEqual([]);
    expect(found("kueue-admission-mode-ignored", objects)).toEqual([]);
  });

  it("weights without fair sharing", () => {
    const code = "kueue-weight-without-fair-sharing";
    const objects = {
      ...queues(clusterQueue("a", { weight: 2 }), clusterQueue("b")),
      kueueCohorts: [cohort("c", { weight: 0 }), cohort("d")],
    };
    expect(found(code, objects, kueue(null, false))).toEqual(["ClusterQueue a", "Cohort c"]);
    expect(found(code, objects, kueue(null, true))).toEqual([]);
    expect(found(code, objects)).toEqual([]);
  });

  it("a LocalQueue's weight in a ClusterQueue that does not admit by usage", () => {
    const kueueLocalQueues = [localQueue("x", "a", { weight: 3 }), localQueue("y", "b", { weight: 3 })];
    const objects = { ...queues(clusterQueue("a"), clusterQueue("b", byUsage)), kueueLocalQueues };
    expect(found("kueue-weight-without-fair-sharing", objects)).toEqual(["LocalQueue research/x"]);
  });

  it("a cohort of one", () => {
    const alone = clusterQueue("a", { cohort: "c" });
    const code = "kueue-cohort-of-one";
    expect(found(code, queues(alone, clusterQueue("b")))).toEqual(["ClusterQueue a"]);
    expect(found(code, queues(alone, clusterQueue("b", { cohort: "c" })))).toEqual([]);
    expect(found(code, { ...queues(alone), kueueCohorts: [cohort("c", { quotas: [gpuQuota(4)] })] })).toEqual([]);
    const kueueCohorts = [cohort("c", { parent: "root" }), cohort("d", { parent: "root" })];
    expect(found(code, { ...queues(alone, clusterQueue("b", { cohort: "d" })), kueueCohorts })).toEqual([]);
  });

  it("a circle of cohorts", () => {
    const kueueCohorts = [cohort("x", { parent: "y" }), cohort("y", { parent: "z" }), cohort("z", { parent: "y" })];
    const objects = { ...queues(clusterQueue("a", { cohort: "x" })), kueueCohorts };
    const [finding, ...others] = lint(objects).filter(({ code }) => code === "kueue-cohort-cycle");
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ kind: "Cohort", name: "y" });
    expect(finding?.reason).toContain("y -> z -> y");
    expect(found("kueue-cohort-of-one", objects)).toEqual([]);
  });

  it("a ClusterQueue to which no LocalQueue leads", () => {
    const objects = { ...queues(clusterQueue("a"), clusterQueue("b")), kueueLocalQueues: [localQueue("x", "a")] };
    expect(found("kueue-queue-unreachable", objects)).toEqual(["ClusterQueue b"]);
    expect(found("kueue-queue-unreachable", { ...objects, kueueLocalQueues: [] })).toEqual([]);
  });

  it("a ClusterQueue that selects no namespace", () => {
    const objects = queues(clusterQueue("a", { namespaceSelector: null }), clusterQueue("b"));
    expect(found("kueue-queue-selects-no-namespace", objects)).toEqual(["ClusterQueue a"]);
  });

  it("a flavor of GPUs that no node has, or that does not exist", () => {
    const code = "kueue-flavor-without-nodes";
    const objects = {
      ...queues(clusterQueue("a")),
      kueueResourceFlavors: [flavor("h100", { nodeLabels: { gpu: "h100" } })],
    };
    expect(found(code, objects)).toEqual(["ResourceFlavor h100"]);
    expect(found(code, objects, {}, [nodeView({ labels: { gpu: "h100" } })])).toEqual([]);
    expect(found(code, { ...objects, ...queues(clusterQueue("a", { quotas: [memory] })) })).toEqual([]);
    expect(found(code, { ...objects, ...queues(clusterQueue("a", { quotas: [gpuQuota(0)] })) })).toEqual([]);
    expect(found(code, { ...objects, kueueResourceFlavors: [flavor("a100")] })).toEqual(["ResourceFlavor h100"]);
  });

  it("quota that others may borrow and nobody may take back", () => {
    const pair = (own: Parameters<typeof gpuQuota>[1], other: Parameters<typeof gpuQuota>[1], preemption = never) =>
      queues(
        clusterQueue("a", { cohort: "c", preemption, quotas: [gpuQuota(8, own)] }),
        clusterQueue("b", { cohort: "c", quotas: [gpuQuota(0, other)] }),
      );
    const code = "kueue-no-reclaim";
    expect(found(code, pair({}, {}))).toEqual(["ClusterQueue a"]);
    expect(found(code, pair({}, {}, { ...never, reclaimWithinCohort: "LowerPriority" }))).toEqual([]);
    expect(found(code, pair({ lendingLimit: 0 }, {}))).toEqual([]);
    expect(found(code, pair({}, { borrowingLimit: 0 }))).toEqual([]);
    expect(found(code, pair({}, { flavor: "a100" }))).toEqual([]);
    expect(found(code, queues(clusterQueue("a", { preemption: never })))).toEqual([]);
  });
});
