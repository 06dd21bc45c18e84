import type { Advice, EffectMeasures, Recommendation } from "../../exporter/model/recommendation.ts";
import { at } from "./moment.ts";

const measures: EffectMeasures = {
  blockedGpus: 0,
  pendingGpus: 16,
  freeGpus: 2,
  placeablePods: { "1": 2, "2": 1, "4": 0, "8": 0 },
  wholeFreeNodes: 0,
  expectedFragmentation: 1.5,
  deviations: [
    { queue: "ads", domain: "H100", gpus: 16 },
    { queue: "search", domain: "H100", gpus: -16 },
  ],
  idleGpus: 8,
  unobservedGpus: 0,
  idleNodeHoursPerWeek: 0,
  costPerWeek: [{ currency: "USD", amount: 40_320 }],
};

const after: EffectMeasures = {
  ...measures,
  pendingGpus: 0,
  deviations: [
    { queue: "ads", domain: "H100", gpus: 0 },
    { queue: "search", domain: "H100", gpus: 0 },
  ],
};

/** Search gets 16 GPUs back from ads: open, found ten minutes ago. */
export const reclaimAdvice: Recommendation = {
  id: "r-4f2a91c07d",
  kind: "reclaim",
  act: "do",
  actReasons: ["every guard that was asked lets it pass"],
  title: "give search 16 H100 back: suspend ads/embed-v3 (8) and ads/crawl-42 (8)",
  reason:
    "search holds 16.0 of the 32.0 H100 that it is entitled to and waits with 16.0 that would fit; ads holds 16.0 more than its own share.",
  evidence: [
    { name: "search held", value: "16.0 of 32.0 GPUs" },
    { name: "ads above its entitlement", value: "16.0 GPUs" },
  ],
  steps: [
    {
      title: "deactivate the Workload of ads/embed-v3",
      request: {
        verb: "PATCH",
        path: "/apis/kueue.x-k8s.io/v1beta2/namespaces/ads/workloads/job-embed-v3-1a2b3",
        contentType: "application/merge-patch+json",
        body: { metadata: { uid: "5c5e1f0e-0000-4000-8000-000000000001" }, spec: { active: false } },
      },
      precondition: "it is still the Workload with uid 5c5e1f0e-0000-4000-8000-000000000001",
      command:
        'kubectl patch workloads.kueue.x-k8s.io job-embed-v3-1a2b3 -n ads --type=merge -p \'{"spec":{"active":false}}\'',
      dryRun:
        'kubectl patch workloads.kueue.x-k8s.io job-embed-v3-1a2b3 -n ads --type=merge -p \'{"spec":{"active":false}}\' --dry-run=server',
      waitFor: "its pods are gone",
    },
  ],
  questions: [],
  habit: null,
  beneficiary: { kind: "queue", name: "search" },
  targets: ["Workload ads/job-crawl-42-4d5e6", "Workload ads/job-embed-v3-1a2b3"],
  fromTeam: "ads",
  forTeam: "search",
  queue: "search",
  pool: "H100",
  effect: {
    before: measures,
    after: { mostAllocated: after, leastAllocated: after },
    gainedGpus: { worst: 16, best: 16 },
    gainedGpuHours: { worst: 384, best: 384 },
    starts: ["search/rank-7", "search/rank-8"],
    savingPerWeek: [{ currency: "USD", amount: 0 }],
  },
  cost: { pods: 2, gangs: 0, lostGpuHours: 3.1, isUpperBound: false, teams: ["ads"] },
  worthGpuHours: 380.9,
  confidence: { level: "high", reasons: ["both placement rules agree", "checkpoints are known"] },
  guards: ["known", "owner", "disruption-budget", "priority"],
  blockedAlternatives: ["ads/serving: PodDisruptionBudget ads/serving allows 0 disruptions"],
  state: "open",
  firstSeenAt: at - 600,
  openedAt: at - 600,
  openings: 1,
  replaces: [],
  replacedBy: null,
  parts: null,
  computedAt: at,
  validUntil: at + 60,
  closedAt: null,
  closedBecause: null,
  measured: null,
  aftermath: null,
  alerts: [],
};

/** One open recommendation, one thing withheld, and fragmentation that could be less. */
export const someAdvice: Advice = {
  recommendations: [reclaimAdvice],
  withheld: [
    {
      kind: "defragment",
      subject: "vision/train-9",
      why: "guard",
      reason: "moving vision/serve would go against PodDisruptionBudget vision/serve, which allows 0 disruptions",
    },
  ],
  reducibleFragmentation: new Map([["H100", 3.5]]),
  search: { at: 1_800_000_000, isGoingOn: false, waiting: 0 },
};
