import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { kueueFinder } from "../../../exporter/join/queues/kueueFinder.ts";
import { createKueueGangCache } from "../../../exporter/join/queues/kueueGangCache.ts";
import { kueueNamespaces } from "../../../exporter/join/queues/kueueNamespaces.ts";
import { kueueSystem } from "../../../exporter/join/queues/kueueSystem.ts";
import type { DeclaredGang, PoolFacts, QueueSystem } from "../../../exporter/join/queues/queueSystem.ts";
import type { KueueWorkload } from "../../../exporter/model/queues/kueue.ts";
import { noQueueObjects, type QueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import {
  admission,
  clusterQueue,
  cohort,
  condition,
  flavor,
  localQueue,
  podSet,
  quota,
  workload,
} from "../../queues/kueueRows.ts";
import { gpuPod, namespace, node, owner, ownerRef } from "../clusterBuilder.ts";
import { declaredIn, domainOf, gangsOf, parentsByName, physicalGpus, pool, scopePools, shuffled } from "./queueRows.ts";

const gpu = "nvidia.com/gpu";
const a100 = physicalGpus("A100", 24, { physicalGpu: "a100" });
const h100 = physicalGpus("H100", 16, { physicalGpu: "h100" });
const both = [a100, h100];
const flavors = [flavor("a100", { physicalGpu: "a100" }), flavor("h100", { physicalGpu: "h100" })];

function system(objects: Partial<QueueObjects>, pools: readonly PoolFacts[] = both): QueueSystem {
  const all = { ...noQueueObjects, kueueResourceFlavors: flavors, ...objects };
  return kueueSystem({ objects: all, pools, namespaces: null });
}

const queuesIn = (found: QueueSystem, ...pools: readonly PoolFacts[]) => declaredIn(found, domainOf(pools, 100));

function queueOf(found: QueueSystem, name: string, ...pools: readonly PoolFacts[]) {
  const queue = queuesIn(found, ...pools).find((one) => one.name === name);
  if (queue === undefined) throw new Error(`no queue ${name}`);
  return queue;
}

describe("cohorts", () => {
  it("and parents exist as soon as something names them", () => {
    const found = system({
      kueueClusterQueues: [clusterQueue("cq", [quota("a100", 4)], { cohort: "lab" })],
      kueueCohorts: [cohort("lab", "company")],
    });
    expect(parentsByName(queuesIn(found, a100))).toEqual({ company: null, lab: "company", cq: "lab" });
    expect(queueOf(found, "company", a100)).toMatchObject({ kind: "Cohort", guaranteed: 4, limit: 4, isLeaf: false });
  });

  it("add up what is below, and their own quota on top", () => {
    const found = system({
      kueueClusterQueues: [
        clusterQueue("one", [quota("a100", 4)], { cohort: "lab" }),
        clusterQueue("two", [quota("a100", 3), quota("h100", 5)], { cohort: "lab" }),
      ],
      kueueCohorts: [cohort("lab", null, [quota("a100", 10)])],
    });
    expect(queueOf(found, "lab", a100)).toMatchObject({ guaranteed: 17, limit: 17 });
    expect(queueOf(found, "lab", h100)).toMatchObject({ guaranteed: 5, limit: 5 });
    expect(queuesIn(found, h100).map(({ name }) => name)).toEqual(["lab", "two"]);
  });

  it("may lend only what their members lend", () => {
    const found = system({
      kueueClusterQueues: [
        clusterQueue("keeps", [quota("a100", 8, { lendingLimit: 6 })], { cohort: "lab" }),
        clusterQueue("lends", [quota("a100", 8)], { cohort: "lab" }),
      ],
      kueueCohorts: [cohort("lab", "company")],
    });
    expect(queueOf(found, "keeps", a100)).toMatchObject({ guaranteed: 8, lendingLimit: 6 });
    expect(queueOf(found, "lends", a100)).toMatchObject({ guaranteed: 8, lendingLimit: Infinity });
    expect(queueOf(found, "lab", a100)).toMatchObject({ guaranteed: 16, lendingLimit: 14, limit: Infinity });
    expect(queueOf(found, "company", a100)).toMatchObject({ guaranteed: 16, lendingLimit: Infinity, limit: 16 });
  });

  it("that are their own ancestors are cut at the first by name, and admit nothing", () => {
    const found = system({
      kueueClusterQueues: [clusterQueue("cq", [quota("a100", 4)], { cohort: "c" })],
      kueueCohorts: [cohort("b", "a"), cohort("a", "c"), cohort("c", "b")],
      kueueLocalQueues: [localQueue("q", "cq")],
      kueueWorkloads: [workload("w", [podSet(1, 1)])],
    });
    expect(parentsByName(queuesIn(found, a100))).toEqual({ a: null, b: "a", c: "b", cq: "c" });
    expect(found.problems.map(({ code, subject }) => [code, subject])).toEqual([["kueue-cohort-cycle", "a"]]);
    expect(gangsOf(found)[0]?.never).toBe("no-queue");
  });

  it("make trees, whatever names whom, in an order that does not depend on that of the objects", () => {
    interface Forest {
      readonly cohorts: readonly (readonly [string, string | null])[];
      readonly queues: readonly (readonly [string, string | null])[];
    }
    const name = fc.constantFrom("a", "b", "c", "d", "e");
    const tree = fc.record({
      cohorts: fc.uniqueArray(fc.tuple(name, fc.option(name)), { selector: ([one]) => one, maxLength: 5 }),
      queues: fc.uniqueArray(fc.tuple(fc.constantFrom("q1", "q2", "q3"), fc.option(name)), {
        selector: ([one]) => one,
      }),
    });
    fc.assert(
      fc.property(
        tree.chain(({ cohorts, queues }) =>
          fc.tuple(fc.constant({ cohorts, queues }), shuffled(cohorts), shuffled(queues)),
        ),
        ([first, cohorts, queues]) => {
          const of = (them: Forest) =>
            queuesIn(
              system({
                kueueCohorts: them.cohorts.map(([one, parent]) => cohort(one, parent, [quota("a100", 1)])),
                kueueClusterQueues: them.queues.map(([one, parent]) =>
                  clusterQueue(one, [quota("a100", 2)], { cohort: parent }),
                ),
              }),
              a100,
            );
          const found = of(first);
          expect(found.every(({ parent }, i) => parent === null || parent < i)).toBe(true);
          expect(of({ cohorts, queues })).toEqual(found);
          const roots = found.filter(({ parent }) => parent === null);
          const total = roots.reduce((sum, { guaranteed }) => sum + (guaranteed ?? 0), 0);
          expect(total).toBe(first.cohorts.length + 2 * first.queues.length);
        },
      ),
      { numRuns: 300, seed: 3 },
    );
  });
});

describe("quotas", () => {
  it("cannot be left without a cohort", () => {
    const found = system({ kueueClusterQueues: [clusterQueue("cq", [quota("a100", 4)])] });
    expect(queueOf(found, "cq", a100)).toMatchObject({ parent: null, guaranteed: 4, limit: 4 });
  });

  it("are borrowed on within the limit", () => {
    const quotas = [quota("a100", 4, { borrowingLimit: 3 }), quota("h100", 2)];
    const found = system({ kueueClusterQueues: [clusterQueue("cq", quotas, { cohort: "lab" })] });
    expect(queueOf(found, "cq", a100)).toMatchObject({ guaranteed: 4, limit: 7 });
    expect(queueOf(found, "cq", h100)).toMatchObject({ guaranteed: 2, limit: Infinity });
    expect(queueOf(found, "cq", a100, h100)).toMatchObject({ guaranteed: 6, limit: Infinity });
  });

  it("of slices and shares are so many GPUs", () => {
    const shared = pool("A100", a100.nodes, { [gpu]: 0.25, "nvidia.com/mig-1g.10gb": 1 / 7 });
    const quotas = [quota("a100", 8), { ...quota("a100", 7), resource: "nvidia.com/mig-1g.10gb" }];
    const found = system({ kueueClusterQueues: [clusterQueue("cq", quotas)] }, [shared]);
    expect(queueOf(found, "cq", shared).guaranteed).toBeCloseTo(3, 12);
  });

  it("are not known where nodes differ, nor is anything above them", () => {
    const mixed = pool("A100", a100.nodes, { [gpu]: null });
    const found = system({ kueueClusterQueues: [clusterQueue("cq", [quota("a100", 8)], { cohort: "lab" })] }, [mixed]);
    expect(queuesIn(found, mixed).map(({ guaranteed, limit }) => [guaranteed, limit])).toEqual([
      [null, null],
      [null, null],
    ]);
  });

  it("of anything but GPUs are no quotas of theirs", () => {
    const found = system({ kueueClusterQueues: [clusterQueue("cq", [{ ...quota("a100", 8), resource: "cpu" }])] });
    expect(found.isInUse).toBe(false);
    expect(queuesIn(found, a100)).toEqual([]);
  });
});

describe("flavors", () => {
  it("cover the pools of the nodes that carry their labels", () => {
    const found = system({ kueueClusterQueues: [clusterQueue("cq", [quota("a100", 1), quota("h100", 1)])] });
    expect(scopePools(found, both)).toEqual([["A100"], ["H100"]]);
  });

  it("without labels cover all pools", () => {
    const found = system({
      kueueResourceFlavors: [flavor("any")],
      kueueClusterQueues: [clusterQueue("cq", [quota("any", 1)])],
    });
    expect(scopePools(found, both)).toEqual([["A100", "H100"]]);
  });

  it("that no node has are nowhere", () => {
    const found = system({
      kueueResourceFlavors: [flavor("b200", { physicalGpu: "b200" })],
      kueueClusterQueues: [clusterQueue("cq", [quota("b200", 1)])],
    });
    expect(scopePools(found, both)).toEqual([]);
    expect(queuesIn(found, a100, h100)).toEqual([]);
  });

  const partFlavors = (podNeeds: Parameters<typeof podSet>[2], kueueResourceFlavors = flavors) => {
    const kueueClusterQueues = [clusterQueue("cq", [quota("h100", 1), quota("a100", 1)])];
    const kueueLocalQueues = [localQueue("q", "cq")];
    const kueueWorkloads = [workload("w", [podSet(1, 1, podNeeds)])];
    const objects = { kueueResourceFlavors, kueueClusterQueues, kueueLocalQueues, kueueWorkloads };
    return gangsOf(system(objects))[0]?.parts[0]?.scopes;
  };
  const taint = { key: "dedicated", value: "ml", effect: "NoSchedule" } as const;
  const tainted = flavors.map((one) => (one.name === "h100" ? { ...one, nodeTaints: [taint] } : one));

  it.each([
    ["all of the queue, in its order", {}, flavors, ["h100", "a100"]],
    ["those that the selector allows", { nodeSelector: { physicalGpu: "a100" } }, flavors, ["a100"]],
    ["whatever the selector says about other labels", { nodeSelector: { zone: "z" } }, flavors, ["h100", "a100"]],
    [
      "those that affinity allows",
      { nodeAffinity: [[{ key: "physicalGpu", operator: "NotIn", values: ["h100"] }]] },
      flavors,
      ["a100"],
    ],
    [
      "all where one alternative is of other labels",
      {
        nodeAffinity: [
          [{ key: "physicalGpu", operator: "In", values: ["a100"] }],
          [{ key: "zone", operator: "In", values: ["z"] }],
        ],
      },
      flavors,
      ["h100", "a100"],
    ],
    ["those without a taint", {}, tainted, ["a100"]],
    [
      "those whose taint is tolerated",
      { tolerations: [{ key: "dedicated", operator: "Exists" as const, value: "", effect: null }] },
      tainted,
      ["h100", "a100"],
    ],
    ["none", { nodeSelector: { physicalGpu: "b200" } }, flavors, []],
    [
      "the unlabelled one, whatever keys the others have",
      { nodeSelector: { physicalGpu: "a100" } },
      [flavor("h100", { physicalGpu: "h100" }), flavor("a100")],
      ["a100"],
    ],
  ])("serve a pod: %s", (_, needs, of, expected) => {
    expect(partFlavors(needs, of)).toEqual(expected);
  });
});

describe("a workload", () => {
  const queues: Partial<QueueObjects> = {
    kueueClusterQueues: [clusterQueue("cq", [quota("a100", 8)])],
    kueueLocalQueues: [localQueue("q", "cq")],
  };
  const gangOf = (parts: Partial<KueueWorkload>, objects: Partial<QueueObjects> = queues): DeclaredGang | undefined =>
    gangsOf(system({ ...objects, kueueWorkloads: [workload("w", [podSet(4, 2)], parts)] }))[0];
  const notReserved = (reason: string) => ({ conditions: [condition("QuotaReserved", false, { reason })] });

  it.each([
    ["WaitingForQuota", null],
    ["Pending", null],
    ["TopologyPlacementFailed", null],
    ["WaitingForPodsReady", null],
    ["ExceedsMaxQuota", "above-limit"],
    ["NoMatchingFlavor", "no-node"],
    ["Misconfigured", "no-queue"],
    ["Inadmissible", "no-queue"],
    ["Suspended", "paused"],
    ["AdmissionGated", "paused"],
    ["OnHold", "paused"],
  ])("that waits because of %s can run: %s", (reason, never) => {
    expect(gangOf(notReserved(reason))?.never).toBe(never);
  });

  it("that has quota can run, whatever is said about its queue", () => {
    const stopped = { ...queues, kueueLocalQueues: [localQueue("q", "cq", { stopPolicy: "Hold" })] };
    expect(gangOf(admission("cq", "a100", 4, 2), stopped)?.never).toBeNull();
    expect(gangOf({}, stopped)?.never).toBe("no-queue");
  });

  const cq = clusterQueue("cq", [quota("a100", 8)]);
  it.each([
    ["is deactivated", {}, { active: false }, "paused"],
    ["names no LocalQueue that is there", { kueueLocalQueues: [] }, {}, "no-queue"],
    ["names a LocalQueue of a ClusterQueue that is not there", { kueueClusterQueues: [] }, {}, "no-queue"],
    ["is in a stopped ClusterQueue", { kueueClusterQueues: [{ ...cq, stopPolicy: "HoldAndDrain" }] }, {}, "no-queue"],
    [
      "is in an inactive ClusterQueue",
      { kueueClusterQueues: [{ ...cq, active: condition("Active", false) }] },
      {},
      "no-queue",
    ],
  ] as const)("that %s cannot run", (_, objects, parts, never) => {
    expect(gangOf(parts, { ...queues, ...objects })?.never).toBe(never);
  });

  it("is read anew when a LimitRange or the controller of a check changes, though it is the same object", () => {
    const cache = createKueueGangCache();
    const parts = admission("cq", "a100", 4, 2);
    const checks = [{ name: "c", state: "Pending" as const, message: "", changedAt: null }];
    const kueueWorkloads = [
      workload("w", [podSet(4, 2)]),
      workload("x", [podSet(4, 2)], { ...parts, conditions: [condition("QuotaReserved", true)], checks }),
    ];
    const read = (objects: Partial<QueueObjects>) =>
      gangsOf(
        kueueSystem(
          {
            objects: { ...noQueueObjects, ...queues, kueueResourceFlavors: flavors, kueueWorkloads, ...objects },
            pools: both,
            namespaces: null,
          },
          cache,
        ),
      ).map(({ never, awaitsNodes = false }) => [never, awaitsNodes]);
    const limit = { type: "Container" as const, max: { [gpu]: 1 }, defaults: {} };
    const limitRanges = [{ namespace: "research", name: "l", limits: [limit] }];
    const kueueAdmissionChecks = [{ name: "c", controllerName: "kueue.x-k8s.io/provisioning-request" }];
    const plain = [
      [null, false],
      [null, false],
    ];
    expect(read({})).toEqual(plain);
    expect(read({ limitRanges })[0]).toEqual(["limit-range", false]);
    expect(read({ kueueAdmissionChecks })[1]).toEqual([null, true]);
    expect(read({})).toEqual(plain);
  });

  it("is refused by a queue that is not for its namespace", () => {
    const kueueWorkloads = [workload("w", [podSet(1, 1)])];
    const selecting = (team: string | null) =>
      gangsOf(
        kueueSystem({
          objects: {
            ...noQueueObjects,
            ...queues,
            kueueWorkloads,
            kueueResourceFlavors: flavors,
            kueueClusterQueues: [
              { ...cq, namespaceSelector: team === null ? null : { matchLabels: { team }, matchExpressions: [] } },
            ],
          },
          pools: both,
          namespaces: new Map([["research", namespace("research", { team: "vision" })]]),
        }),
      )[0]?.never;
    expect([selecting("vision"), selecting("language"), selecting(null)]).toEqual([null, "no-queue", "no-queue"]);
  });

  it.each([
    ["its creation", [], 1000],
    ["its creation, though it has quota", [condition("QuotaReserved", true)], 1000],
    ["its eviction", [condition("Evicted", true, { changedAt: 1500 })], 1500],
    [
      "when it was put back into the queue",
      [condition("Evicted", true, { changedAt: 1500 }), condition("Requeued", true, { changedAt: 1600 })],
      1600,
    ],
    ["its creation while it is not put back", [condition("Requeued", false)], 1000],
  ])("has waited since %s", (_, conditions, since) => {
    expect(gangOf({ conditions })?.since).toBe(since);
  });

  it("has quota since its reservation, and has begun when its pods were ready", () => {
    const conditions = [
      condition("QuotaReserved", true, { changedAt: 2000 }),
      condition("Admitted", true, { changedAt: 2100 }),
      condition("PodsReady", true, { changedAt: 2200 }),
    ];
    expect(gangOf({ conditions })).toMatchObject({ reservedAt: 2000, startedAt: 2200, reason: "" });
    const recovered = conditions.map((one) => (one.type === "PodsReady" ? { ...one, reason: "Recovered" } : one));
    expect(gangOf({ conditions: recovered })?.startedAt).toBe(2100);
    const starting = conditions.map((one) => (one.type === "PodsReady" ? { ...one, isTrue: false } : one));
    expect(gangOf({ conditions: starting })).toMatchObject({ startedAt: null, isStarting: true });
    expect(gangOf(notReserved("Pending"))).toMatchObject({ reservedAt: null, startedAt: null });
  });

  it("has the members that are left, and may need fewer of them", () => {
    const [set] = [podSet(4, 2)];
    const found = system({
      ...queues,
      kueueWorkloads: [
        workload("w", [{ ...set, minCount: 2 }], {
          ...admission("cq", "a100", 3, 2),
          reclaimable: [{ podSet: "main", count: 1 }],
        }),
      ],
    });
    expect(gangsOf(found)[0]).toMatchObject({ members: 2, min: 1 });
    expect(queueOf(found, "cq", a100).reserved).toBe(4);
  });

  it("that has ended, or asks for no GPUs, is none", () => {
    const none = podSet(2, 0);
    const found = system({
      ...queues,
      kueueWorkloads: [
        workload("ended", [podSet(1, 1)], { conditions: [condition("Finished", true)], ...{} }),
        workload("cpu", [{ ...none, pod: { ...none.pod, requests: { cpu: 4 } } }]),
      ],
    });
    expect(found.gangs).toEqual([]);
  });
});

describe("the queue of a pod", () => {
  const job = owner("Job", "train");
  const find = kueueFinder(
    kueueNamespaces({
      kueueLocalQueues: [localQueue("q", "by-local-queue"), localQueue("lq", "by-label")],
      kueueWorkloads: [
        workload("named", [], { ...admission("by-name", "a100", 1, 1) }),
        workload("owned", [], { owner: ownerRef(job), ...admission("by-owner", "a100", 1, 1) }),
        workload("waiting", [], { jobUid: "uid-of-job", localQueue: "q" }),
      ],
    }),
  );
  const labels = { "kueue.x-k8s.io/queue-name": "q" };
  const named = { "kueue.x-k8s.io/workload": "named" };

  it.each([
    [
      "its label, to whose queue a LocalQueue of its namespace leads, before the LocalQueue that it names",
      gpuPod("p", null, 1, {
        labels: { ...labels, "kueue.x-k8s.io/cluster-queue-name": "by-label", "kueue.x-k8s.io/local-queue-name": "lq" },
        annotations: { "kueue.x-k8s.io/workload": "waiting" },
      }),
      { name: "by-label", localQueue: "lq" },
    ],
    [
      "the workload that it names",
      gpuPod("p", null, 1, {
        labels: { ...labels, "kueue.x-k8s.io/cluster-queue-name": "by-label" },
        annotations: named,
        owner: ownerRef(job),
      }),
      { name: "by-name", localQueue: "q" },
    ],
    [
      "the workload of its owner",
      gpuPod("p", null, 1, { labels, owner: ownerRef(job) }),
      { name: "by-owner", localQueue: "q" },
    ],
    ["the workload by the job's uid", gpuPod("p", null, 1, { uid: "uid-of-job" }), { name: "by-local-queue" }],
    ["its LocalQueue", gpuPod("p", null, 1, { labels }), { name: "by-local-queue", localQueue: "q" }],
  ])("is known by %s", (_, one, expected) => {
    expect(find(one, [])).toMatchObject({ scheduler: "kueue", ...expected });
  });

  it("is known by an owner's label, in the pod's namespace", () => {
    const owned = gpuPod("p", null, 1);
    expect(find(owned, [owner("RayCluster", "ray", null, { labels })])?.name).toBe("by-local-queue");
    expect(find({ ...owned, namespace: "other" }, [owner("RayCluster", "ray", null, { labels })])).toBeNull();
  });

  it("is not that of a label to whose queue nothing of its namespace leads", () => {
    const victim = { "kueue.x-k8s.io/cluster-queue-name": "victim" };
    expect(find(gpuPod("p", null, 1, { labels: victim }), [])).toBeNull();
    expect(find(gpuPod("p", null, 1, { labels: { ...victim, ...labels } }), [])?.name).toBe("by-local-queue");
    const elsewhere = { namespace: "other", labels: { "kueue.x-k8s.io/cluster-queue-name": "by-label" } };
    expect(find(gpuPod("p", null, 1, elsewhere), [])).toBeNull();
  });

  it("is not that of a Workload of another namespace, whose name or owner it names", () => {
    expect(find(gpuPod("p", null, 1, { namespace: "other", annotations: named }), [])).toBeNull();
    expect(find(gpuPod("p", null, 1, { namespace: "other", owner: ownerRef(job) }), [])).toBeNull();
  });

  it("is not known where it names nothing that is there", () => {
    expect(find(gpuPod("p", null, 1, { labels: { "kueue.x-k8s.io/queue-name": "gone" } }), [])).toBeNull();
    expect(find(gpuPod("p", null, 1), [])).toBeNull();
  });

  it("is the same object for the same queue", () => {
    expect(find(gpuPod("one", null, 1, { labels }), [])).toBe(find(gpuPod("two", null, 1, { labels }), []));
  });
});

describe("labels of nodes", () => {
  it("that differ within a pool: a flavor covers the pool when one node has them", () => {
    const mixed = pool("A100", [node("a", { labels: { tier: "spot" } }), node("b", { labels: { tier: "reserved" } })]);
    const found = system(
      {
        kueueResourceFlavors: [flavor("spot", { tier: "spot" }), flavor("reserved", { tier: "reserved" })],
        kueueClusterQueues: [clusterQueue("cq", [quota("spot", 3), quota("reserved", 4)])],
      },
      [mixed],
    );
    expect(queueOf(found, "cq", mixed).guaranteed).toBe(7);
  });
});
