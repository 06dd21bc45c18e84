import type {
  Advice,
  AdviceKind,
  AdviceStep,
  Recommendation,
  WithheldAdvice,
} from "../../exporter/model/recommendation.ts";
import { at } from "./moment.ts";
import { reclaimAdvice } from "./someAdvice.ts";

const { before } = reclaimAdvice.effect;

const none = { ...before, deviations: [], pendingGpus: 0, idleGpus: 0, costPerWeek: [] };

function step(title: string, words: string, path: string): AdviceStep {
  return {
    title,
    request: { verb: "PATCH", path, contentType: "application/merge-patch+json", body: { spec: { replicas: 0 } } },
    precondition: "its uid is still 5c5e1f0e-0000-4000-8000-000000000002",
    command: words,
    dryRun: `${words} --dry-run=server`,
    waitFor: null,
  };
}

const evict = (namespace: string, pod: string): AdviceStep => ({
  title: `evict pod ${namespace}/${pod}`,
  request: {
    verb: "POST",
    path: `/api/v1/namespaces/${namespace}/pods/${pod}/eviction`,
    contentType: "application/json",
    body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: pod, namespace } },
  },
  precondition: "the pod still has uid 9a3b6c1e-0000-4000-8000-000000000003",
  command: `printf %s '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"${pod}","namespace":"${namespace}"},"deleteOptions":{"preconditions":{"uid":"9a3b6c1e-0000-4000-8000-000000000003"}}}' | kubectl create --raw /api/v1/namespaces/${namespace}/pods/${pod}/eviction -f -`,
  dryRun: null,
  waitFor: "its replacement runs on another node",
});

const releaseIdle: Recommendation = {
  ...reclaimAdvice,
  id: "r-77b0c1d2e3",
  kind: "release_idle",
  act: "ask",
  actReasons: ["it has been watched for 3 d 2 h: its habit is known after 7 days"],
  title: "ask team ads about 8 idle H100 of ads/notebook-big: nothing ran since 2026-11-21 00:50 UTC",
  reason:
    "Notebook ads/notebook-big of team ads holds 8.0 H100 with 1 pod. Every signal of each of them has stayed at or below the idle threshold since 2026-11-21T00:50:00.000Z. They cost 55.04 USD an hour. Its habit: came back 6 of 7 times, after 8 min.",
  evidence: [
    { name: "GPUs allocated", value: "8.0" },
    { name: "idle for", value: "3 h 10 min" },
    { name: "class", value: "notebook" },
  ],
  steps: [],
  questions: [
    {
      to: "team ads",
      about: "Notebook ads/notebook-big",
      question: "Does Notebook ads/notebook-big still need its 8 H100?",
      facts: [
        "nothing has run on them since 2026-11-21 00:50 UTC, for 3 h 10 min",
        "that time cost 174 USD",
        "its habit: came back 6 of 7 times, after 8 min",
        "stopped now, at most 41.3 GPU-hours of work would be undone: no checkpoint is known",
      ],
    },
  ],
  habit: {
    spells: 7,
    returns: 6,
    medianReturnSeconds: 480,
    returnProbability: 0.8,
    expectedIdleHours: 5.2,
    basis: "own",
  },
  beneficiary: { kind: "team", name: "ads" },
  targets: ["Notebook ads/notebook-big"],
  forTeam: "",
  queue: "",
  effect: {
    before: { ...none, idleGpus: 8, freeGpus: 18 },
    after: { mostAllocated: { ...none, freeGpus: 26 }, leastAllocated: { ...none, freeGpus: 26 } },
    gainedGpus: { worst: 8, best: 8 },
    gainedGpuHours: { worst: 41.6, best: 41.6 },
    starts: [],
    savingPerWeek: [],
  },
  cost: { pods: 1, gangs: 0, lostGpuHours: 41.3, isUpperBound: true, teams: ["ads"] },
  worthGpuHours: 8.6,
  confidence: {
    level: "low",
    reasons: [
      "every sample of every GPU of it was idle for 3 h 10 min",
      "what a notebook keeps in memory is lost: ask its author",
    ],
  },
  blockedAlternatives: [],
  firstSeenAt: at - 7800,
  alerts: [{ alertname: "GpuIdleAllocated", fingerprint: "beef", status: "firing", startsAt: at - 3000 }],
};

const defragment: Recommendation = {
  ...reclaimAdvice,
  id: "r-19e0aa54bc",
  kind: "defragment",
  title: "move vision/eval-7 (1) and vision/eval-9 (1): then vision/train-9 (8) fits",
  reason:
    "vision/train-9 waits for 8 A100 on one node for 55 min although 12.0 are free: no node has more than 7 of them. Moved to a100-05, two pods leave a100-03 free as a whole.",
  steps: [evict("vision", "eval-7"), evict("vision", "eval-9")],
  beneficiary: { kind: "workload", name: "vision/train-9" },
  targets: ["Pod vision/eval-7", "Pod vision/eval-9"],
  fromTeam: "vision",
  forTeam: "vision",
  queue: "vision",
  pool: "A100",
  effect: {
    before: { ...none, blockedGpus: 8, pendingGpus: 8, freeGpus: 12, expectedFragmentation: 9.5 },
    after: {
      mostAllocated: { ...none, freeGpus: 4, expectedFragmentation: 3 },
      leastAllocated: { ...none, freeGpus: 4, expectedFragmentation: 3.5 },
    },
    gainedGpus: { worst: 8, best: 8 },
    gainedGpuHours: { worst: 192, best: 192 },
    starts: ["vision/train-9"],
    savingPerWeek: [],
  },
  cost: { pods: 2, gangs: 0, lostGpuHours: 0.4, isUpperBound: true, teams: ["vision"] },
  worthGpuHours: 191.6,
  confidence: { level: "medium", reasons: ["no checkpoint is known of vision/eval-9: its loss is an upper bound"] },
};

const scaleIn: Recommendation = {
  ...releaseIdle,
  id: "r-b3d9201f6e",
  kind: "scale_in",
  act: "do",
  actReasons: ["every guard that was asked lets it pass"],
  questions: [],
  habit: null,
  title: "take 3 idle nodes with 24 A100 out of node pool a100-spot: a100-11, a100-12 and a100-14",
  reason: "Nobody has used these nodes for 6 h, and nothing that waits would fit there.",
  steps: ["a100-11", "a100-12", "a100-14"].map((node) =>
    step(`cordon node ${node}`, `kubectl cordon ${node}`, `/api/v1/nodes/${node}`),
  ),
  targets: ["Node a100-11", "Node a100-12", "Node a100-14"],
  beneficiary: { kind: "cluster", name: "harbor" },
  fromTeam: "",
  pool: "A100",
  effect: {
    ...releaseIdle.effect,
    before: { ...none, idleNodeHoursPerWeek: 504, costPerWeek: [{ currency: "USD", amount: 31_250 }] },
    after: {
      mostAllocated: { ...none, costPerWeek: [{ currency: "USD", amount: 20_870 }] },
      leastAllocated: { ...none, costPerWeek: [{ currency: "USD", amount: 20_870 }] },
    },
    gainedGpus: { worst: 24, best: 24 },
    gainedGpuHours: { worst: 576, best: 576 },
    savingPerWeek: [{ currency: "USD", amount: 10_380 }],
  },
  cost: { pods: 0, gangs: 0, lostGpuHours: 0, isUpperBound: false, teams: [] },
  worthGpuHours: 576,
  alerts: [],
};

const fixSource: Recommendation = {
  ...reclaimAdvice,
  id: "r-0c55fe7a91",
  kind: "fix_source",
  act: "watch",
  actReasons: ["a signal is missing or in doubt"],
  title: "restart gpu-monitoring/dcgm-exporter-x7k2p on node a100-06: 4.0 allocated A100 are not observed",
  reason: "Its page has been empty since 13:58 UTC, while the node's kubelet answers.",
  steps: [evict("gpu-monitoring", "dcgm-exporter-x7k2p")],
  targets: ["Pod gpu-monitoring/dcgm-exporter-x7k2p"],
  beneficiary: { kind: "node", name: "a100-06" },
  fromTeam: "",
  forTeam: "",
  queue: "",
  pool: "A100",
  effect: {
    before: { ...none, unobservedGpus: 4 },
    after: { mostAllocated: none, leastAllocated: none },
    gainedGpus: { worst: 4, best: 4 },
    gainedGpuHours: { worst: 96, best: 96 },
    starts: [],
    savingPerWeek: [],
  },
  cost: { pods: 1, gangs: 0, lostGpuHours: 0, isUpperBound: false, teams: [] },
  worthGpuHours: 96,
  confidence: { level: "low", reasons: ["why it is empty is not known"] },
  blockedAlternatives: [],
};

const taken: Recommendation = {
  ...defragment,
  id: "r-5d5d5d5d5d",
  title: "move vision/eval-2 (1): then search/rank-5 (4) fits",
  state: "taken",
  closedAt: at - 5400,
  closedBecause: "pod vision/eval-2 has left its node",
  measured: { gainedGpus: 8, lostGpuHours: 0.3, at: at - 3600, isFinal: true, undone: null },
};

const dismissed: Recommendation = {
  ...releaseIdle,
  id: "r-6e6e6e6e6e",
  title: "ask team notebooks about 2 idle L4 of notebooks/kim-0: nothing ran since 2026-11-19 23:55 UTC",
  state: "dismissed",
  closedAt: at - 86_000,
  closedBecause: "lee: she is back from lunch at two",
  aftermath: { outcome: "came-back", at: at - 80_000, regretGpuHours: 8.2 },
  alerts: [],
};

const reasons: readonly (readonly [AdviceKind, WithheldAdvice["why"], string])[] = [
  [
    "defragment",
    "guard",
    "moving vision/serve would go against PodDisruptionBudget vision/serve, which allows 0 disruptions",
  ],
  ["release_idle", "worth", "it would gain 0.6 GPU-hours within 24 h, less than 1"],
  ["reclaim", "no-plan", "What it waits for is allocated to queues that are not above their own entitlement."],
  ["right_size", "standing", "seen in 1 of 3 cycles: it is given when it is"],
  ["unblock_gang", "excluded", "give search 16 H100 back acts on the same, and gains more"],
];

/** Advice as a busy cluster has it: five pieces of different kinds, two closed, thirty things that are not recommended. */
export const severalAdvice: Advice = {
  recommendations: [reclaimAdvice, releaseIdle, defragment, scaleIn, fixSource, taken, dismissed],
  withheld: Array.from({ length: 30 }, (_, index) => {
    const [kind, why, reason] = reasons[index % reasons.length] ?? ["reclaim", "worth", ""];
    return { kind, why, reason, subject: `vision/train-${index}` };
  }),
  reducibleFragmentation: new Map([["A100", 6]]),
  trackRecords: [
    {
      kind: "release_idle",
      act: "ask",
      regretGpuHours: 85.3,
      outcomes: { "came-back": 2, "evicted-again": 0, stayed: 11, ended: 1 },
    },
  ],
};
