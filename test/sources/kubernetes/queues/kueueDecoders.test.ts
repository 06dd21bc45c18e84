import { describe, expect, it } from "vitest";
import type { Decoded } from "../../../../exporter/sources/kubernetes/decoded.ts";
import {
  decodeAdmissionCheck,
  decodeClusterQueue,
  decodeCohort,
  decodeLocalQueue,
  decodeResourceFlavor,
  decodeWorkloadPriorityClass,
} from "../../../../exporter/sources/kubernetes/queues/decodeKueueQueues.ts";
import { decodeLimitRange } from "../../../../exporter/sources/kubernetes/queues/decodeQuotaRules.ts";
import { decodeWorkload } from "../../../../exporter/sources/kubernetes/queues/decodeWorkload.ts";
import { capturedItems, capturedRow, recordOf, timeAt } from "./capturedList.ts";

const seconds = (text: string): number => Date.parse(text) / 1000;

describe("the threshold of borrowWithinCohort", () => {
  const preemptionOf = (borrowWithinCohort: object) => {
    const object = { metadata: { name: "q" }, spec: { preemption: { borrowWithinCohort } } };
    const decoded = decodeClusterQueue(object);
    return decoded.ok ? decoded.value.preemption : null;
  };

  it("is read, and absent where there is none", () => {
    const threshold = { policy: "LowerPriority", maxPriorityThreshold: -5 };
    expect(preemptionOf(threshold)).toMatchObject({ borrowWithinCohort: "LowerPriority", borrowMaxPriority: -5 });
    expect(preemptionOf({ policy: "LowerPriority" })).not.toHaveProperty("borrowMaxPriority");
  });
});

describe("Kueue's objects as Kueue 0.19 writes them", () => {
  it("reads a ClusterQueue in a cohort", () => {
    const { row: queue, object } = capturedRow("kueue-0.19/clusterQueues", "language", decodeClusterQueue);
    expect(queue).toMatchObject({
      cohort: "research",
      queueingStrategy: "StrictFIFO",
      weight: 2,
      namespaceSelector: { matchLabels: { team: "language" }, matchExpressions: [] },
      preemption: { reclaimWithinCohort: "Any", withinClusterQueue: "LowerPriority", borrowWithinCohort: "Never" },
      stopPolicy: "None",
      admittedWorkloads: 3,
      weightedShare: 53,
      active: {
        isTrue: true,
        reason: "Ready",
        changedAt: timeAt(object, "status", "conditions", 0, "lastTransitionTime"),
      },
    });
    const unlimited = { borrowingLimit: null, lendingLimit: null };
    const at = (flavor: number, resource: number) => ({ place: { group: 0, flavor, resource } });
    expect(queue.quotas).toEqual([
      { flavor: "a100", resource: "cpu", nominal: 96, ...unlimited, ...at(0, 0) },
      { flavor: "a100", resource: "nvidia.com/gpu", nominal: 8, ...unlimited, lendingLimit: 6, ...at(0, 1) },
      { flavor: "h100", resource: "cpu", nominal: 64.5, ...unlimited, ...at(1, 0) },
      { flavor: "h100", resource: "nvidia.com/gpu", nominal: 4, ...unlimited, ...at(1, 1) },
    ]);
    expect(queue.usage).toContainEqual({ flavor: "h100", resource: "nvidia.com/gpu", total: 8, borrowed: 4 });
    expect(queue.reservation).toContainEqual({ flavor: "a100", resource: "cpu", total: 7.5, borrowed: 0 });
  });

  it("says where each quota is, so that a patch of that place meets it", () => {
    const quota = (name: string, nominalQuota: unknown = 1) => ({ name, nominalQuota });
    const spec = {
      resourceGroups: [
        { flavors: [] },
        {
          flavors: [
            { name: "a", resources: [] },
            { name: "b", resources: [quota(""), quota("x"), quota("x", "2")] },
          ],
        },
      ],
    };
    const clusterQueue = (resourceGroups: unknown) => ({ metadata: { name: "q" }, spec: { resourceGroups } });
    const { quotas } = recordOf(decodeClusterQueue(clusterQueue(spec.resourceGroups)));
    expect(quotas.map(({ place, nominal }) => ({ ...place, nominal }))).toEqual([
      { group: 1, flavor: 1, resource: 0, nominal: 1 },
      { group: 1, flavor: 1, resource: 1, nominal: 1 },
      { group: 1, flavor: 1, resource: 2, nominal: 2 },
    ]);
    // What is no object would shift those behind it: then there is no record at all.
    for (const hostile of [null, 7, "x", []])
      expect(decodeClusterQueue(clusterQueue([hostile, ...spec.resourceGroups]))).toMatchObject({ ok: false });
  });

  it("reads cohorts and their parents", () => {
    const cohort = (name: string) => capturedRow("kueue-0.19/cohorts", name, decodeCohort).row;
    expect(cohort("company")).toMatchObject({ parent: null, weight: 1, quotas: [], weightedShare: 0 });
    expect(cohort("research")).toMatchObject({ parent: "company", weight: 2, weightedShare: 40 });
  });

  it("reads the parent of a cohort in v1alpha1", () => {
    const cohort = { apiVersion: "kueue.x-k8s.io/v1alpha1", metadata: { name: "a" }, spec: { parent: "b" } };
    expect(recordOf(decodeCohort(cohort)).parent).toBe("b");
  });

  it("reads a LocalQueue and what admission fair sharing counts, in billionths", () => {
    const list = capturedItems("kueue-0.19/localQueues");
    const queue = recordOf(decodeLocalQueue(list[0]));
    expect(queue).toMatchObject({ namespace: "team-language", name: "main", clusterQueue: "language", weight: 1 });
    expect(queue.consumed?.["nvidia.com/gpu"]).toBeGreaterThan(0);
    expect(queue.consumed?.["nvidia.com/gpu"]).toBeLessThan(1);
    const path = ["status", "fairSharing", "admissionFairSharingStatus", "lastUpdate"];
    expect(queue.consumedAt).toBe(timeAt(list[0], ...path));
    expect(queue.usage).toContainEqual({ flavor: "a100", resource: "nvidia.com/gpu", total: 8, borrowed: 0 });
  });

  it("reads flavors and priority classes", () => {
    expect(capturedRow("kueue-0.19/resourceFlavors", "h100", decodeResourceFlavor).row).toEqual({
      name: "h100",
      nodeLabels: { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3" },
      nodeTaints: [],
      tolerations: [{ key: "nvidia.com/gpu", operator: "Exists", value: "", effect: "NoSchedule" }],
      topologyName: null,
    });
    const urgent = capturedRow("kueue-0.19/workloadPriorityClasses", "urgent", decodeWorkloadPriorityClass);
    expect(urgent.row).toEqual({ name: "urgent", value: 1000 });
  });

  it("reads an admitted Workload", () => {
    const { row: workload } = capturedRow("kueue-0.19/workloads", "job-language-borrows-", decodeWorkload);
    expect(workload).toMatchObject({
      namespace: "team-language",
      localQueue: "main",
      priority: 0,
      priorityClass: null,
      active: true,
      owner: { kind: "Job", name: "language-borrows" },
      admission: {
        clusterQueue: "language",
        assignments: [
          {
            podSet: "main",
            count: 2,
            flavors: { cpu: "h100", "nvidia.com/gpu": "h100" },
            usage: { cpu: 3, "nvidia.com/gpu": 8 },
          },
        ],
      },
      evictions: [],
      checkpointedAt: null,
    });
    expect(workload.jobUid).toBe(workload.owner?.uid);
    expect(workload.podSets).toEqual([
      {
        name: "main",
        count: 2,
        minCount: null,
        pod: {
          requests: { cpu: 1.5, "nvidia.com/gpu": 4 },
          nodeSelector: { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3" },
          nodeAffinity: [],
          tolerations: [],
        },
      },
    ]);
    expect(workload.conditions.map(({ type, isTrue, reason }) => [type, isTrue, reason])).toEqual([
      ["QuotaReserved", true, "QuotaReserved"],
      ["Admitted", true, "Admitted"],
      ["PodsReady", false, "WaitForStart"],
    ]);
  });

  it("reads a Workload that was preempted and waits", () => {
    const { row: workload } = capturedRow("kueue-0.19/workloads", "job-vision-borrows-", decodeWorkload);
    expect(workload).toMatchObject({
      admission: null,
      evictions: [{ reason: "Preempted", underlyingCause: "", count: 1 }],
    });
    expect(workload.conditions.find(({ type }) => type === "Preempted")).toMatchObject({
      isTrue: true,
      reason: "InCohortReclamation",
    });
  });

  it.each<[string, (value: unknown) => Decoded<unknown>]>([
    ["clusterQueues", decodeClusterQueue],
    ["localQueues", decodeLocalQueue],
    ["cohorts", decodeCohort],
    ["workloads", decodeWorkload],
  ])("says the same of %s in v1beta1 and in v1beta2", (name, decode) => {
    const rows = (list: string): readonly unknown[] =>
      capturedItems(`kueue-0.19/${list}`).map((item) => recordOf(decode({ ...item, apiVersion: "any/v1" })));
    expect(rows(`${name}.v1beta1`)).toEqual(rows(name));
  });
});

describe("a Workload", () => {
  const finished = [
    { type: "Finished", status: "True", reason: "Succeeded", lastTransitionTime: "2026-11-21T11:00:00Z" },
  ];
  const object = (parts: { metadata?: object; spec?: object; status?: object }): object => ({
    ...parts,
    metadata: { name: "w", namespace: "ns", uid: "u", ...parts.metadata },
  });
  const template = {
    spec: {
      containers: [{ name: "c", resources: { requests: { memory: "1Gi", "nvidia.com/mig-1g.10gb": "2" } } }],
      initContainers: [{ name: "i", resources: { requests: { cpu: "2" } } }],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["a", "b"] }] }, {}],
          },
        },
      },
      tolerations: [{ key: "gpu", value: "yes" }, { operator: "Exists" }, { key: "n", operator: "Gt", value: "3" }],
    },
  };

  it("asks for what the pods of its template effectively ask for", () => {
    const spec = { podSets: [{ name: "main", count: 3, minCount: 1, template }] };
    expect(recordOf(decodeWorkload(object({ spec }))).podSets).toEqual([
      {
        name: "main",
        count: 3,
        minCount: 1,
        pod: {
          requests: { cpu: 2, memory: 2 ** 30, "nvidia.com/mig-1g.10gb": 2 },
          nodeSelector: {},
          nodeAffinity: [
            [{ key: "zone", operator: "In", values: ["a", "b"] }],
            [{ key: "", operator: "In", values: [] }],
          ],
          tolerations: [
            { key: "gpu", operator: "Equal", value: "yes", effect: null },
            { key: "", operator: "Exists", value: "", effect: null },
          ],
        },
        containers: [
          { isInit: true, requests: {} },
          { isInit: false, requests: { "nvidia.com/mig-1g.10gb": 2 } },
        ],
      },
    ]);
  });

  it("says what each container asks for where there are several; those that stay beside the others are no init containers", () => {
    const limits = (gpus: string) => ({ resources: { limits: { "nvidia.com/gpu": gpus, cpu: "1" } } });
    const containersOf = (spec: object) =>
      recordOf(decodeWorkload(object({ spec: { podSets: [{ name: "main", template: { spec } }] } }))).podSets[0]
        ?.containers;
    expect(containersOf({ containers: [limits("2")] })).toBeUndefined();
    expect(
      containersOf({
        initContainers: [limits("1"), { ...limits("0"), restartPolicy: "Always" }],
        containers: [limits("2")],
      }),
    ).toEqual([
      { isInit: true, requests: { "nvidia.com/gpu": 1 } },
      { isInit: false, requests: {} },
      { isInit: false, requests: { "nvidia.com/gpu": 2 } },
    ]);
  });

  it("has its admission checks, its clusters and what it replaces, and none of them once it has finished", () => {
    const metadata = { annotations: { "kueue.x-k8s.io/workload-slice-replacement-for": "ns/v" } };
    const check = { name: "c", state: "Pending", message: "soon", lastTransitionTime: "2026-11-21T10:00:00Z" };
    const status = {
      admissionChecks: [check, { ...check, name: "new", state: "Postponed" }],
      clusterName: "worker1",
      nominatedClusterNames: ["worker1", "worker2"],
    };
    const reported = {
      checks: [{ name: "c", state: "Pending", message: "soon", changedAt: seconds("2026-11-21T10:00:00Z") }],
      clusterName: "worker1",
      nominatedClusters: ["worker1", "worker2"],
      replaces: "ns/v",
    };
    const keys = Object.keys(reported);
    expect(recordOf(decodeWorkload(object({ metadata, status })))).toMatchObject(reported);
    const ended = recordOf(decodeWorkload(object({ metadata, status: { ...status, conditions: finished } })));
    expect(Object.keys(ended).filter((key) => keys.includes(key))).toEqual([]);
    const bare = recordOf(decodeWorkload(object({})));
    expect(Object.keys(bare).filter((key) => keys.includes(key))).toEqual([]);
  });

  it("keeps nothing of its pods once it has finished, but the queue that it was in", () => {
    const spec = { podSets: [{ name: "main", count: 3, template }] };
    const assignments = [{ name: "main", resourceUsage: { "nvidia.com/gpu": "8" } }];
    const admission = { clusterQueue: "q", podSetAssignments: assignments };
    const workload = recordOf(decodeWorkload(object({ spec, status: { conditions: finished, admission } })));
    expect(workload.podSets).toEqual([]);
    expect(workload.admission).toEqual({ clusterQueue: "q", assignments: [] });
  });

  it("counts all pods where an assignment of an old Kueue has no count", () => {
    const spec = { podSets: [{ name: "main", count: 3, template }] };
    const admission = { clusterQueue: "q", podSetAssignments: [{ name: "main" }] };
    const workload = recordOf(decodeWorkload(object({ spec, status: { admission } })));
    expect(workload.admission?.assignments[0]?.count).toBe(3);
  });

  it.each([
    ["5", 15],
    ["-20", -10],
    ["lots", 10],
    ["99999999999", 10],
  ])("adds a boost of %s to its priority as Kueue does", (boost, priority) => {
    const metadata = { annotations: { "kueue.x-k8s.io/priority-boost": boost } };
    const workload = recordOf(decodeWorkload(object({ metadata, spec: { priority: 10 } })));
    expect([workload.priority, workload.priorityBoost ?? 0]).toEqual([priority, priority - 10]);
  });

  it("takes a checkpoint from its annotation, and nonsense there as none", () => {
    const at = (text: string): number | null =>
      recordOf(decodeWorkload(object({ metadata: { annotations: { "fairlead.dev/checkpointed-at": text } } })))
        .checkpointedAt;
    expect(at("2026-11-21T10:00:00Z")).toBe(seconds("2026-11-21T10:00:00Z"));
    expect(at("1")).toBeNull();
    expect(at("yesterday")).toBeNull();
  });

  it("is not active only if it says so", () => {
    expect(recordOf(decodeWorkload(object({ spec: {} }))).active).toBe(true);
    expect(recordOf(decodeWorkload(object({ spec: { active: false } }))).active).toBe(false);
  });
});

describe("an AdmissionCheck", () => {
  it("names its controller", () => {
    const check = { metadata: { name: "c" }, spec: { controllerName: "kueue.x-k8s.io/multikueue", parameters: {} } };
    expect(recordOf(decodeAdmissionCheck(check))).toEqual({ name: "c", controllerName: "kueue.x-k8s.io/multikueue" });
  });
});

describe("a LimitRange", () => {
  const limitsOf = (...limits: readonly object[]): unknown =>
    recordOf(decodeLimitRange({ metadata: { name: "l", namespace: "ns" }, spec: { limits } })).limits;

  it("is what it names as extended resources, per container and per pod", () => {
    const gpus = (amount: string) => ({ "nvidia.com/gpu": amount, cpu: "4" });
    expect(
      limitsOf(
        { type: "Container", max: gpus("4"), default: gpus("2"), defaultRequest: gpus("1"), min: gpus("1") },
        { type: "Pod", max: gpus("8") },
        { type: "Container", max: { cpu: "4", memory: "1Gi" } },
        { type: "PersistentVolumeClaim", max: { storage: "1Ti" } },
      ),
    ).toEqual([
      { type: "Container", max: { "nvidia.com/gpu": 4 }, defaults: { "nvidia.com/gpu": 1 } },
      { type: "Pod", max: { "nvidia.com/gpu": 8 }, defaults: {} },
    ]);
  });

  it("with an amount that is none is no record", () => {
    const broken = {
      metadata: { name: "l", namespace: "ns" },
      spec: { limits: [{ type: "Pod", max: { "a/b": "lots" } }] },
    };
    expect(decodeLimitRange(broken)).toMatchObject({ ok: false, problem: { subject: "LimitRange ns/l" } });
  });
});

describe("a ClusterQueue", () => {
  it("selects no namespace without a selector, and all with an empty one", () => {
    const selector = (spec: object): unknown =>
      recordOf(decodeClusterQueue({ metadata: { name: "q" }, spec })).namespaceSelector;
    expect(selector({})).toBeNull();
    expect(selector({ namespaceSelector: {} })).toEqual({ matchLabels: {}, matchExpressions: [] });
  });

  it("may have a weight below one, and of nothing", () => {
    const weight = (text: string): number =>
      recordOf(decodeClusterQueue({ metadata: { name: "q" }, spec: { fairSharing: { weight: text } } })).weight;
    expect(weight("0.5")).toBe(0.5);
    expect(weight("250m")).toBe(0.25);
    expect(weight("0")).toBe(0);
  });

  it("is left out with the path of a quantity that is none", () => {
    const flavors = [{ name: "f", resources: [{ name: "nvidia.com/gpu", nominalQuota: "many" }] }];
    const decoded = decodeClusterQueue({ metadata: { name: "q" }, spec: { resourceGroups: [{ flavors }] } });
    expect(decoded.ok ? "" : decoded.problem.message).toContain(
      'spec.resourceGroups[0].flavors[0].resources[0].nominalQuota is "many", expected a quantity',
    );
  });
});
