import { describe, expect, it } from "vitest";
import { changeQuota } from "../../../exporter/advice/steps/changeQuota.ts";
import { device, nodeView } from "../../analysis/momentBuilder.ts";
import { kaiQueue, volcanoQueue } from "../../queues/groupRows.ts";
import { clusterQueue, flavor, quota } from "../../queues/kueueRows.ts";
import { bodyOf, queueMoment, reasonOf, revision, revisionTests, sent } from "./stepMoment.ts";

const gpu = "nvidia.com/gpu";
const place = { group: 0, flavor: 1, resource: 2 };
const at = "/spec/resourceGroups/0/flavors/1/resources/2";

describe("the quota of a ClusterQueue", () => {
  const kueue = (own: Parameters<typeof quota>[2], parts: Parameters<typeof clusterQueue>[2] = {}) =>
    queueMoment(
      {},
      {
        kueueClusterQueues: [
          clusterQueue("q", [quota("h100", 8, { place, ...own })], { cohort: "all", revision, ...parts }),
        ],
      },
    );
  const names = [
    { op: "test", path: "/spec/resourceGroups/0/flavors/1/name", value: "h100" },
    { op: "test", path: `${at}/name`, value: gpu },
  ];

  it("is changed at its place, if the object is as it was read", () => {
    expect(sent(changeQuota(kueue({}), 0, { guaranteed: 12 }))).toEqual([
      [
        "PATCH",
        "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/q",
        [...revisionTests, ...names, { op: "add", path: `${at}/nominalQuota`, value: "12" }],
      ],
    ]);
  });

  it("leaves the limit where it was, and no lending limit above the quota", () => {
    expect(bodyOf(changeQuota(kueue({ borrowingLimit: 4, lendingLimit: 8 }), 0, { guaranteed: 6 }))).toEqual([
      ...revisionTests,
      ...names,
      { op: "add", path: `${at}/nominalQuota`, value: "6" },
      { op: "add", path: `${at}/borrowingLimit`, value: "6" },
      { op: "add", path: `${at}/lendingLimit`, value: "6" },
    ]);
  });

  it("bounds what may be borrowed, or takes the bound away", () => {
    expect(bodyOf(changeQuota(kueue({}), 0, { limit: 10 }))).toContainEqual({
      op: "add",
      path: `${at}/borrowingLimit`,
      value: "2",
    });
    expect(bodyOf(changeQuota(kueue({ borrowingLimit: 0 }), 0, { limit: Number.POSITIVE_INFINITY }))).toContainEqual({
      op: "remove",
      path: `${at}/borrowingLimit`,
    });
  });

  it("tests the old values where no generation is known", () => {
    expect(bodyOf(changeQuota(kueue({}, { revision: null }), 0, { guaranteed: 12 }))).toContainEqual({
      op: "test",
      path: `${at}/nominalQuota`,
      value: "8",
    });
  });

  it("is the one of the domain where there are several", () => {
    const quotas = [quota("a100", 4, { place: { ...place, flavor: 0 } }), quota("h100", 8, { place })];
    const kueueResourceFlavors = [flavor("a100", { physicalGpu: "a100" }), flavor("h100", { physicalGpu: "h100" })];
    const kueueClusterQueues = [clusterQueue("q", quotas, { cohort: "all", revision })];
    const nodes = [nodeView({ labels: { physicalGpu: "h100" } })];
    const one = queueMoment({}, { kueueClusterQueues, kueueResourceFlavors }, { nodes });
    expect(JSON.stringify(bodyOf(changeQuota(one, 0, { guaranteed: 9 })))).toContain(`${at}/nominalQuota`);
    const same = [flavor("a100", {}), flavor("h100", {})];
    const both = queueMoment({}, { kueueClusterQueues, kueueResourceFlavors: same }, { nodes });
    expect(reasonOf(changeQuota(both, 0, { guaranteed: 9 }))).toContain("which to change");
  });

  it.each([
    ["parts of a GPU", kueue({}), { guaranteed: 8.5 }, "no whole number"],
    ["nothing new", kueue({}), { guaranteed: 8 }, "already"],
    ["a limit below the quota", kueue({}), { limit: 4 }, "below its quota"],
    ["a limit without a cohort", kueue({}, { cohort: null }), { limit: 12 }, "in no cohort"],
    ["a place that is not known", kueue({ place: null }), { guaranteed: 9 }, "not known"],
    ["a negative amount", kueue({}), { guaranteed: -1 }, "0 or more"],
    ["no number", kueue({}), { guaranteed: Number.NaN }, "0 or more"],
    [
      "a resource that is no whole GPU",
      kueue({ resource: "nvidia.com/mig-1g.10gb" }),
      { guaranteed: 9 },
      "not a whole GPU",
    ],
    [
      "shared GPUs",
      queueMoment(
        {},
        { kueueClusterQueues: [clusterQueue("q", [quota("h100", 8, { place })], { cohort: "all" })] },
        { devices: [device({ slots: 4 })] },
      ),
      { guaranteed: 9 },
      "not a whole GPU",
    ],
    ["a cohort", queueMoment({ kind: "Cohort" }, {}), { guaranteed: 9 }, "sum of those below"],
    ["a queue that is gone", queueMoment({}, {}), { guaranteed: 9 }, "not there any more"],
  ])("is not changed: %s", (_what, moment, to, reason) => {
    expect(reasonOf(changeQuota(moment, 0, to))).toContain(reason);
  });
});

describe("the quota of a queue of KAI", () => {
  const kai = (parts: Parameters<typeof kaiQueue>[1]) =>
    queueMoment(
      { scheduler: "kai", kind: "Queue" },
      { kaiQueues: [kaiQueue("q", { revision: { ...revision, apiVersion: "scheduling.run.ai/v2" }, ...parts })] },
    );

  it("counts in GPUs, fractions too", () => {
    const found = changeQuota(kai({ gpu: { quota: 4, overQuotaWeight: 1, limit: 8 } }), 0, {
      guaranteed: 2.5,
      limit: Number.POSITIVE_INFINITY,
    });
    expect(sent(found)).toEqual([
      [
        "PATCH",
        "/apis/scheduling.run.ai/v2/queues/q",
        [
          ...revisionTests,
          { op: "add", path: "/spec/resources/gpu/quota", value: 2.5 },
          { op: "add", path: "/spec/resources/gpu/limit", value: -1 },
        ],
      ],
    ]);
  });

  it("is not set above its limit", () => {
    const moment = kai({ gpu: { quota: 4, overQuotaWeight: 1, limit: 8 } });
    expect(reasonOf(changeQuota(moment, 0, { guaranteed: 9 }))).toContain("below its quota");
  });
});

describe("the quota of a queue of Volcano", () => {
  const volcano = (plugin: "proportion" | "capacity", parts: Parameters<typeof volcanoQueue>[1]) =>
    queueMoment(
      { scheduler: "volcano", kind: "Queue", guaranteeIsFloor: plugin === "proportion" },
      {
        volcanoQueues: [
          volcanoQueue("q", { revision: { ...revision, apiVersion: "scheduling.volcano.sh/v1beta1" }, ...parts }),
        ],
      },
    );

  it("is what the plugin in force reads, with what must follow it", () => {
    const capacity = volcano("capacity", { deserved: { [gpu]: 8 }, guarantee: { [gpu]: 6 } });
    expect(bodyOf(changeQuota(capacity, 0, { guaranteed: 4 }))).toEqual([
      ...revisionTests,
      { op: "add", path: "/spec/guarantee/resource/nvidia.com~1gpu", value: "4" },
      { op: "add", path: "/spec/deserved/nvidia.com~1gpu", value: "4" },
    ]);
    expect(bodyOf(changeQuota(volcano("proportion", {}), 0, { guaranteed: 4 }))).toEqual([
      ...revisionTests,
      { op: "add", path: "/spec/guarantee", value: { resource: { [gpu]: "4" } } },
    ]);
  });

  it("has a capability as its limit", () => {
    const found = changeQuota(volcano("capacity", { capability: { [gpu]: 8 } }), 0, {
      limit: Number.POSITIVE_INFINITY,
    });
    expect(bodyOf(found)).toEqual([...revisionTests, { op: "remove", path: "/spec/capability/nvidia.com~1gpu" }]);
  });

  it.each([
    [
      "more than it may hold",
      volcano("capacity", { capability: { [gpu]: 8 } }),
      { guaranteed: 9 },
      "could hold only 8",
    ],
    [
      "two kinds of GPUs",
      volcano("capacity", { deserved: { [gpu]: 1, "amd.com/gpu": 1 } }),
      { guaranteed: 9 },
      "more than one",
    ],
  ])("is not changed: %s", (_what, moment, to, reason) => {
    expect(reasonOf(changeQuota(moment, 0, to))).toContain(reason);
  });
});

describe("the quota of a namespace", () => {
  const resourceQuotas = [{ namespace: "ads", name: "gpus", hard: { [gpu]: 8 }, used: {} }];
  const view = { scheduler: "none", kind: "Namespace", name: "team/ads" } as const;

  it("is its ResourceQuota", () => {
    const path = "/spec/hard/requests.nvidia.com~1gpu";
    expect(sent(changeQuota(queueMoment(view, { resourceQuotas }), 0, { limit: 12 }))).toEqual([
      [
        "PATCH",
        "/api/v1/namespaces/ads/resourcequotas/gpus",
        [
          { op: "test", path, value: "8" },
          { op: "replace", path, value: "12" },
        ],
      ],
    ]);
  });

  it("is a limit and no promise, and nothing of a team", () => {
    expect(reasonOf(changeQuota(queueMoment(view, { resourceQuotas }), 0, { guaranteed: 12 }))).toContain(
      "queues.teams",
    );
    expect(
      reasonOf(changeQuota(queueMoment({ ...view, kind: "Team" }, { resourceQuotas }), 0, { limit: 12 })),
    ).toContain("queues.teams");
  });
});
