import { describe, expect, it } from "vitest";
import { unsharedQuota } from "../../../exporter/analysis/lint/idleQuota.ts";
import { type KueueCase, kueueMoment, type TestQueue } from "../../advice/kinds/kueueCluster.ts";

const alone = { cohort: null };
const queue = (name: string, nominal: number, parts: TestQueue["parts"] = alone): TestQueue => ({
  name,
  nominal,
  parts,
});

/** Research uses all of its 4 and waits for 2 more, serving none of its 4; neither is in a cohort. 4 GPUs are free. */
const split: KueueCase = {
  nodes: { a: 8 },
  queues: [queue("research", 4), queue("serving", 4)],
  running: [{ name: "train", queue: "research", nodes: ["a"], gpusPerPod: 4 }],
  waiting: [{ name: "more", queue: "research", pods: 1, gpusPerPod: 2 }],
};

function found(given: KueueCase) {
  const { findings } = kueueMoment(given).analysis;
  return findings.filter(({ code }) => code === "kueue-quota-not-shared");
}

describe("quota of ClusterQueues without a cohort", () => {
  it("that lies idle while another waits is found, with the queues and what lends it", () => {
    const [finding, ...others] = found(split);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ scheduler: "kueue", kind: "ClusterQueue", name: "research" });
    expect(finding?.reason).toContain("research/more waits for 2 GPUs of H100-80GB-HBM3, of which 4 are free");
    expect(finding?.reason).toContain("research uses 4 of its quota of 4 and is in no cohort");
    expect(finding?.reason).toContain("serving leaves 4 of its 4 unused, but is in no cohort either and lends nothing");
    expect(finding?.change).toContain("Set spec.cohortName of ClusterQueues research and serving to the same name");
    expect(finding?.change).toContain("reclaimWithinCohort: Any");
    expect(finding?.change).toContain("raise nominalQuota of research by 2");
  });

  it("is lent in a cohort, and so is no finding there", () => {
    expect(found({ ...split, queues: [queue("research", 4, {}), queue("serving", 4, {})] })).toEqual([]);
    // Who gave it a cohort meant that to be apart.
    expect(found({ ...split, queues: [queue("research", 4), queue("serving", 4, {})] })).toEqual([]);
  });

  it("is not idle while its own work wants it, holds it, or it is stopped", () => {
    const theirs = { name: "theirs", queue: "serving", pods: 1, gpusPerPod: 4 };
    expect(found({ ...split, waiting: [...(split.waiting ?? []), theirs] })).toEqual([]);
    const allocated = { name: "serve", queue: "serving", nodes: ["b"], gpusPerPod: 4 };
    expect(found({ ...split, nodes: { a: 8, b: 4 }, running: [...(split.running ?? []), allocated] })).toEqual([]);
    const stopped = queue("serving", 4, { ...alone, stopPolicy: "Hold" });
    expect(found({ ...split, queues: [queue("research", 4), stopped] })).toEqual([]);
  });

  it("helps nobody where too few GPUs are free, or too little of it is idle", () => {
    expect(found({ ...split, nodes: { a: 4 } })).toEqual([]);
    expect(found({ ...split, nodes: { a: 5 } })).toEqual([]);
    expect(found({ ...split, queues: [queue("research", 4), queue("serving", 1)] })).toEqual([]);
  });

  it("helps nobody where it is of another flavor of the same nodes", () => {
    const { snapshot } = kueueMoment(split).analysis;
    const withFlavor = (flavor: string) => ({
      ...snapshot,
      queueObjects: {
        ...snapshot.queueObjects,
        kueueClusterQueues: snapshot.queueObjects.kueueClusterQueues.map((one) =>
          one.name === "serving" ? { ...one, quotas: one.quotas.map((quota) => ({ ...quota, flavor })) } : one,
        ),
      },
    });
    expect(unsharedQuota(withFlavor("h100"))).toHaveLength(1);
    expect(unsharedQuota(withFlavor("spot"))).toEqual([]);
  });

  it("is reported once the work has waited for 5 minutes", () => {
    const { snapshot } = kueueMoment(split).analysis;
    const since = snapshot.queueing.gangs[0]?.since ?? 0;
    expect(unsharedQuota({ ...snapshot, at: since + 299 })).toEqual([]);
    expect(unsharedQuota({ ...snapshot, at: since + 300 })).toHaveLength(1);
  });

  it("starts nothing behind work that does not fit, where the queue serves strictly in order", () => {
    const waiting = [
      { name: "large", queue: "research", pods: 1, gpusPerPod: 8 },
      { name: "small", queue: "research", pods: 1, gpusPerPod: 2 },
    ];
    expect(found({ ...split, waiting })[0]?.reason).toContain("research/small waits for 2 GPUs");
    const strict = queue("research", 4, { ...alone, queueingStrategy: "StrictFIFO" });
    expect(found({ ...split, queues: [strict, queue("serving", 4)], waiting })).toEqual([]);
  });

  it("is not missing where the queue has headroom of its own, or nothing waits", () => {
    expect(found({ ...split, queues: [queue("research", 8), queue("serving", 4)], nodes: { a: 12 } })).toEqual([]);
    expect(found({ ...split, waiting: [] })).toEqual([]);
  });

  it("lets start even what is more than its queue may ever hold", () => {
    const waiting = [{ name: "large", queue: "research", pods: 1, gpusPerPod: 6 }];
    const [finding] = found({ ...split, running: [], waiting });
    expect(finding?.reason).toContain("research/large waits for 6 GPUs");
    expect(finding?.change).toContain("by 2");
  });

  it("names as many queues as have enough, those with the most first", () => {
    const queues = [queue("research", 4), queue("b", 1), queue("c", 2), queue("d", 1)];
    const waiting = [{ name: "more", queue: "research", pods: 1, gpusPerPod: 3 }];
    const [finding] = found({ ...split, queues, waiting });
    expect(finding?.change).toContain("of ClusterQueues research, c and b to the same name");
  });
});
