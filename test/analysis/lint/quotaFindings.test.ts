import { describe, expect, it } from "vitest";
import { findings } from "../../../exporter/analysis/lint/findings.ts";
import type { QueueView, QuotaDomain } from "../../../exporter/join/queues/queueing.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import type { QueueScheduler } from "../../../exporter/model/queues/eviction.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { gpuNode } from "../../join/clusterBuilder.ts";
import { snapshotOf } from "../../join/outcomes.ts";
import { kaiQueue } from "../../queues/groupRows.ts";
import { clusterQueue, flavor, quota } from "../../queues/kueueRows.ts";
import { quotaDomain } from "../../queues/queueView.ts";
import { leaf, type TestNode, waitingMoment } from "../waiting/waitingBuilder.ts";

const free8: TestNode = { allocated: [0, 0, 0, 0, 0, 0, 0, 0] };

function promised(gpus: number, nodes: readonly TestNode[], counted: Partial<QuotaDomain> = {}): Snapshot {
  const root = { kind: "Scheduler", name: "kueue", isLeaf: false } as const;
  const domains = [quotaDomain({ capacity: 8, ...counted })];
  return waitingMoment(nodes, [], { domains, queues: [leaf({ ...root, guaranteed: 8, declaredGuarantee: gpus })] });
}

describe("quotas above capacity", () => {
  it("are found against the GPUs that are there, with the difference", () => {
    const [finding, ...others] = findings(promised(12, [free8]));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({
      code: "quota-above-capacity",
      scheduler: "kueue",
      kind: "QuotaDomain",
      name: "H100",
    });
    expect(finding?.reason).toContain("promised 12 GPUs together, but 8 are there: 4 too many");
    expect(findings(promised(8, [free8]))).toEqual([]);
  });

  it("are not made by a cordon or a node that is not ready", () => {
    const lost = { capacity: 8, outOfService: 8 };
    expect(findings(promised(16, [free8, { ...free8, schedulable: false }], lost))).toEqual([]);
    expect(findings(promised(16, [free8, { ...free8, ready: false }], lost))).toEqual([]);
    expect(findings(promised(17, [free8, { ...free8, ready: false }], lost))).toHaveLength(1);
  });

  it("are found in the nodes over which the quota counts, though others of the pool have free GPUs", () => {
    const root = { kind: "Scheduler", name: "kueue", isLeaf: false, guaranteed: 8, declaredGuarantee: 12 } as const;
    const domains = ["reserved", "spot"].map((name) => quotaDomain({ name, nodes: new Set([name]), capacity: 8 }));
    const nodes = [
      { ...free8, name: "reserved" },
      { ...free8, name: "spot" },
    ];
    const of = (domain: number) => findings(waitingMoment(nodes, [], { domains, queues: [leaf({ ...root, domain })] }));
    expect(of(0)).toMatchObject([{ code: "quota-above-capacity", name: "reserved" }]);
    const [all] = domains;
    const both = all === undefined ? [] : [{ ...all, capacity: 16, nodes: new Set(["reserved", "spot"]) }];
    expect(findings(waitingMoment(nodes, [], { domains: both, queues: [leaf(root)] }))).toEqual([]);
  });

  it("are not reported while GPUs of the pool are not counted", () => {
    expect(findings(promised(16, [free8, { allocated: [], physicalGpus: null }]))).toEqual([]);
  });
});

describe("GPUs that several schedulers promise", () => {
  const two = [free8, free8];
  const root = (scheduler: QueueScheduler, gpus: number) =>
    leaf({ scheduler, kind: "Scheduler", name: scheduler, isLeaf: false, guaranteed: 0, declaredGuarantee: gpus });
  const both = (...queues: readonly QueueView[]) =>
    findings(waitingMoment(two, [], { domains: [quotaDomain()], queues }));

  it("and promise more than there are is one finding, with what each of them promises", () => {
    const [finding, ...others] = both(root("kueue", 16), root("kai", 8));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({
      code: "quota-promised-twice",
      scheduler: "kueue",
      kind: "QuotaDomain",
      name: "H100",
    });
    expect(finding?.reason).toContain(
      "The same 16 GPUs are promised by several schedulers: 16 by Kueue (nominalQuota) and 8 by KAI (quota), which is 24 in all and 8 too many",
    );
    expect(finding?.change).toContain("Lower the guarantees of Kueue or KAI by 8 GPUs in all");
    expect(both(root("kueue", 12), root("volcano", 6)).map(({ code }) => code)).toEqual(["quota-promised-twice"]);
  });

  it("and that fit together are no finding", () => {
    expect(both(root("kueue", 8), root("kai", 8))).toEqual([]);
    expect(both(root("kueue", 16), root("kai", 0))).toEqual([]);
  });

  it("are reported for the one scheduler that promises too much by itself, and not again", () => {
    const found = both(root("kueue", 20), root("kai", 8));
    expect(found.map(({ code, scheduler }) => [code, scheduler])).toEqual([["quota-above-capacity", "kueue"]]);
  });

  it("are counted for each domain by itself", () => {
    const domains = [quotaDomain(), quotaDomain({ name: "A100", pools: ["A100"] })];
    const queues = [root("kueue", 16), { ...root("kai", 8), domain: 1 }];
    expect(findings(waitingMoment(two, [], { domains, queues }))).toEqual([]);
  });
});

describe("a cluster of 16 H100 with ClusterQueues and queues of KAI over the same nodes", () => {
  const cluster = (kueue: number, kai: number) =>
    findings(
      snapshotOf({
        nodes: [gpuNode("one", 8), gpuNode("two", 8)],
        queues: {
          ...noQueueObjects,
          kueueResourceFlavors: [flavor("h100")],
          kueueClusterQueues: [clusterQueue("vision", [quota("h100", kueue)])],
          kaiQueues: [kaiQueue("language", { gpu: { quota: kai, overQuotaWeight: 1, limit: -1 } })],
        },
      }),
    ).flatMap(({ code, reason }) => (code.startsWith("quota-") ? [{ code, reason }] : []));

  it("that are sure of 24 together is found", () => {
    const [finding, ...others] = cluster(16, 8);
    expect(others).toEqual([]);
    expect(finding?.code).toBe("quota-promised-twice");
    expect(finding?.reason).toContain(
      "16 by Kueue (nominalQuota) and 8 by KAI (quota), which is 24 in all and 8 too many",
    );
  });

  it("that are sure of 16 together is not", () => {
    expect(cluster(8, 8)).toEqual([]);
  });
});
