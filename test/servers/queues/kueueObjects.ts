/**
 * A small company with Kueue. Three nodes of 8 A100 (quotas: vision 8, language 8, product 8) and two of 8 H100 (4, 4, 8):
 *
 *     company ─┬─ research ─┬─ vision
 *              │  weight 2  └─ language   weight 2, lends at most 6 of its 8 A100
 *              └─ product                 borrows at most 4 A100; admission fair sharing
 *
 * `language-late` takes back what `vision-borrows` has borrowed; that one is evicted, and waits. At the end:
 *
 *     queue      holds                         borrows   weighted share (38 GPUs can be lent: 22 A100, 16 H100)
 *     vision     8 + 3 A100                    3 A100    1000 * 3 / 38 = 78.9
 *     language   4 + 4 A100, 8 H100            4 H100    1000 * 4 / 38 / 2 = 52.6
 *     product    1 + 3 A100, 8 H100            nothing   0
 *     research   11 + (8 - 2) A100 of 8 + 6    3 A100    1000 * 3 / 38 / 2 = 39.5
 */

import type { GpuNode } from "./gpuNodes.ts";

const a100 = "NVIDIA-A100-SXM4-80GB";
const h100 = "NVIDIA-H100-80GB-HBM3";
const gpu = "nvidia.com/gpu";
const api = "kueue.x-k8s.io/v1beta2";

interface Made {
  readonly path: string;
  readonly body: object;
}

/** What a workload's condition comes to, such as `True: Admitted`. */
export type ComesTo = readonly [type: string, is: string];

/** A suspended Job; `comesTo` is what its workload's condition comes to before the next one is made. */
export interface JobWanted {
  readonly namespace: string;
  readonly name: string;
  readonly pods: number;
  readonly gpus: number;
  readonly product?: string;
  readonly priorityClass?: string;
  readonly comesTo: ComesTo;
  /** Nodes of its pods, in their order. */
  readonly runsOn: readonly string[];
  /** A job of the same cluster that loses its quota to this one. */
  readonly evicts?: { readonly namespace: string; readonly name: string };
}

export const nodes: readonly GpuNode[] = [
  ...["a", "b", "c"].map((letter) => ({ name: `a100-${letter}`, product: a100, gpus: 8 })),
  ...["a", "b"].map((letter) => ({ name: `h100-${letter}`, product: h100, gpus: 8 })),
];

const made = (kind: string, plural: string, name: string, spec: object, namespace?: string): Made => ({
  path: `/apis/${api}/${namespace === undefined ? "" : `namespaces/${namespace}/`}${plural}`,
  body: { apiVersion: api, kind, metadata: { name }, spec },
});

const flavor = (name: string, product: string): Made =>
  made("ResourceFlavor", "resourceflavors", name, {
    nodeLabels: { "nvidia.com/gpu.product": product },
    tolerations: [{ key: gpu, operator: "Exists", effect: "NoSchedule" }],
  });

type Limits = Readonly<Record<string, string>>;

const clusterQueue = (name: string, cohortName: string, a100Gpus: Limits, h100Gpus: Limits, more: object): Made =>
  made("ClusterQueue", "clusterqueues", name, {
    cohortName,
    namespaceSelector: { matchLabels: { team: name } },
    resourceGroups: [
      {
        coveredResources: ["cpu", gpu],
        flavors: [
          {
            name: "a100",
            resources: [
              { name: "cpu", nominalQuota: "96" },
              { name: gpu, ...a100Gpus },
            ],
          },
          {
            name: "h100",
            resources: [
              { name: "cpu", nominalQuota: "64500m" },
              { name: gpu, ...h100Gpus },
            ],
          },
        ],
      },
    ],
    ...more,
  });

const reclaims = { preemption: { reclaimWithinCohort: "Any", withinClusterQueue: "LowerPriority" } };

const priorityClass = (name: string, value: number): Made => ({
  path: `/apis/${api}/workloadpriorityclasses`,
  body: { apiVersion: api, kind: "WorkloadPriorityClass", metadata: { name }, value },
});

const teams = ["vision", "language", "product"] as const;

/** Everything but the workloads, in the order in which it is made. */
export const setUp: readonly Made[] = [
  flavor("a100", a100),
  flavor("h100", h100),
  priorityClass("urgent", 1000),
  priorityClass("routine", 10),
  made("Cohort", "cohorts", "company", {}),
  made("Cohort", "cohorts", "research", { parentName: "company", fairSharing: { weight: "2" } }),
  clusterQueue("vision", "research", { nominalQuota: "8" }, { nominalQuota: "4" }, {}),
  clusterQueue(
    "language",
    "research",
    { nominalQuota: "8", lendingLimit: "6" },
    { nominalQuota: "4" },
    { fairSharing: { weight: "2" }, queueingStrategy: "StrictFIFO", ...reclaims },
  ),
  clusterQueue(
    "product",
    "company",
    { nominalQuota: "8", borrowingLimit: "4" },
    { nominalQuota: "8" },
    { admissionScope: { admissionMode: "UsageBasedAdmissionFairSharing" }, ...reclaims },
  ),
  ...teams.flatMap((team): readonly Made[] => [
    { path: "/api/v1/namespaces", body: { metadata: { name: `team-${team}`, labels: { team } } } },
    made("LocalQueue", "localqueues", "main", { clusterQueue: team }, `team-${team}`),
  ]),
  made(
    "LocalQueue",
    "localqueues",
    "nightly",
    { clusterQueue: "product", fairSharing: { weight: "500m" } },
    "team-product",
  ),
];

const containers = (gpus: number): readonly object[] => [
  {
    name: "main",
    image: "none",
    resources: { requests: { cpu: "1500m", [gpu]: String(gpus) }, limits: { [gpu]: String(gpus) } },
  },
];

/** Workloads made by hand, as a job system without an integration would make them. */
export const workloads: readonly (Made & { readonly name: string; readonly comesTo: ComesTo })[] = [
  {
    ...made(
      "Workload",
      "workloads",
      "notebook",
      {
        queueName: "nightly",
        priorityClassRef: { group: "kueue.x-k8s.io", kind: "WorkloadPriorityClass", name: "routine" },
        priority: 10,
        podSets: [
          { name: "main", count: 1, template: { spec: { restartPolicy: "Never", containers: containers(1) } } },
        ],
      },
      "team-product",
    ),
    name: "notebook",
    comesTo: ["Admitted", "True: Admitted"],
  },
];

/** Jobs, in the order in which they come. */
export const jobs: readonly JobWanted[] = [
  {
    namespace: "team-vision",
    name: "vision-own",
    pods: 2,
    gpus: 4,
    priorityClass: "routine",
    comesTo: ["Admitted", "True: Admitted"],
    runsOn: ["a100-a", "a100-a"],
  },
  {
    namespace: "team-vision",
    name: "vision-borrows",
    pods: 1,
    gpus: 8,
    comesTo: ["Admitted", "True: Admitted"],
    runsOn: ["a100-b"],
  },
  // 6 A100 are left for product: it goes to its 8 H100.
  {
    namespace: "team-product",
    name: "product-h100",
    pods: 1,
    gpus: 8,
    priorityClass: "urgent",
    comesTo: ["Admitted", "True: Admitted"],
    runsOn: ["h100-a"],
  },
  {
    namespace: "team-product",
    name: "product-a100",
    pods: 3,
    gpus: 1,
    comesTo: ["Admitted", "True: Admitted"],
    runsOn: ["a100-c", "a100-c", "a100-c"],
  },
  // Two A100 that it does not lend, and two more: all 24 are allocated now.
  {
    namespace: "team-language",
    name: "language-own",
    pods: 4,
    gpus: 1,
    comesTo: ["Admitted", "True: Admitted"],
    runsOn: ["a100-c", "a100-c", "a100-c", "a100-c"],
  },
  // 4 H100 of its own, 4 that vision leaves idle. Only one of its two pods has come up.
  {
    namespace: "team-language",
    name: "language-borrows",
    pods: 2,
    gpus: 4,
    product: h100,
    comesTo: ["Admitted", "True: Admitted"],
    runsOn: ["h100-b"],
  },
  {
    namespace: "team-product",
    name: "product-waits",
    pods: 1,
    gpus: 8,
    priorityClass: "routine",
    product: h100,
    comesTo: ["QuotaReserved", "False: WaitingForQuota"],
    runsOn: [],
  },
  {
    namespace: "team-product",
    name: "product-too-big",
    pods: 8,
    gpus: 8,
    comesTo: ["QuotaReserved", "False: ExceedsMaxQuota"],
    runsOn: [],
  },
  {
    namespace: "team-product",
    name: "product-no-such-card",
    pods: 1,
    gpus: 1,
    product: "NVIDIA-B200",
    comesTo: ["QuotaReserved", "False: NoMatchingFlavor"],
    runsOn: [],
  },
  {
    namespace: "team-language",
    name: "language-late",
    pods: 1,
    gpus: 4,
    product: a100,
    evicts: { namespace: "team-vision", name: "vision-borrows" },
    comesTo: ["Admitted", "True: Admitted"],
    runsOn: ["a100-b"],
  },
  // Three of the four A100 that product leaves idle.
  {
    namespace: "team-vision",
    name: "vision-small",
    pods: 3,
    gpus: 1,
    comesTo: ["Admitted", "True: Admitted"],
    runsOn: ["a100-b", "a100-b", "a100-b"],
  },
];

/** A suspended Job of a queue. */
export function jobObject({ name, pods, gpus, product, priorityClass: priority }: JobWanted): object {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name,
      labels: {
        "kueue.x-k8s.io/queue-name": "main",
        ...(priority === undefined ? {} : { "kueue.x-k8s.io/priority-class": priority }),
      },
    },
    spec: {
      suspend: true,
      parallelism: pods,
      completions: pods,
      completionMode: "Indexed",
      template: {
        spec: {
          restartPolicy: "Never",
          containers: containers(gpus),
          ...(product === undefined ? {} : { nodeSelector: { "nvidia.com/gpu.product": product } }),
        },
      },
    },
  };
}
