import { describe, expect, it } from "vitest";
import { findReclaim } from "../../../exporter/advice/kinds/reclaim.ts";
import { now } from "../../join/clusterBuilder.ts";
import { foundBy, gainsOf, type KueueCase, kueueMoment, onlyCandidate, type RunningJob } from "./kueueCluster.ts";

const search = { name: "search", nominal: 16 };
const ads = { name: "ads", nominal: 8 };
const never = { reclaimWithinCohort: "Never", withinClusterQueue: "Never", borrowWithinCohort: "Never" };

/** A Job of ads on one whole node. */
const wholeNode = (name: string, node: string, hours: number, parts: Partial<RunningJob> = {}): RunningJob => ({
  name,
  queue: "ads",
  nodes: [node],
  gpusPerPod: 8,
  hours,
  ...parts,
});

/** Ads holds all three nodes: 16 more than the 8 that it is sure of. Search waits for two whole nodes. */
const starved: KueueCase = {
  nodes: { a: 8, b: 8, c: 8 },
  queues: [ads, search],
  running: [wholeNode("embed", "a", 5), wholeNode("crawl", "b", 1), wholeNode("rank", "c", 3)],
  waiting: [
    { name: "s1", queue: "search", pods: 1, gpusPerPod: 8 },
    { name: "s2", queue: "search", pods: 1, gpusPerPod: 8 },
  ],
};

const found = (given: KueueCase) => foundBy(findReclaim, kueueMoment(given));

describe("a starved queue", () => {
  it("gets back what others borrow, from the work that loses least", () => {
    const moment = kueueMoment(starved);
    const candidate = onlyCandidate(foundBy(findReclaim, moment));
    expect(candidate.title).toBe("give search 16 H100-80GB-HBM3 back: requeue ads/crawl (8) and ads/rank (8)");
    expect(candidate).toMatchObject({
      kind: "reclaim",
      beneficiary: { kind: "queue", name: "search" },
      targets: ["Job ads/crawl", "Job ads/rank"],
      queue: "search",
      pool: "H100-80GB-HBM3",
      signs: [
        {
          kind: "pods-left",
          pods: [
            { uid: "uid-ads-crawl-0", node: "b" },
            { uid: "uid-ads-rank-0", node: "c" },
          ],
        },
      ],
    });
    expect(gainsOf(moment, candidate)).toEqual({ mostAllocated: 16, leastAllocated: 16 });
    const active = (value: boolean) => ({ spec: { active: value } });
    expect(candidate.steps.map(({ request: { verb, body } }) => [verb, body])).toMatchObject([
      ["PATCH", active(false)],
      ["PATCH", active(false)],
      ["PATCH", active(true)],
      ["PATCH", active(true)],
    ]);
    expect(candidate.steps[1]?.waitFor).toContain("search/s1 and search/s2 have started");
    expect(candidate.reason).toContain("Queue search holds 0 H100-80GB-HBM3, is entitled to 16");
  });

  it("gets it from work that has a checkpoint rather than from the newest", () => {
    const at = new Date((now - 60) * 1000).toISOString();
    const pod = {
      annotations: { "kueue.x-k8s.io/workload": "job-embed", "fairlead.dev/checkpointed-at": at },
    };
    const running = [wholeNode("embed", "a", 5, { pod }), wholeNode("crawl", "b", 1), wholeNode("rank", "c", 3)];
    const { title } = onlyCandidate(found({ ...starved, running }));
    expect(title).toContain("requeue ads/embed (8) and ads/crawl (8)");
  });

  it("takes no more than it needs", () => {
    const { targets } = onlyCandidate(found({ ...starved, waiting: (starved.waiting ?? []).slice(0, 1) }));
    expect(targets).toEqual(["Job ads/crawl"]);
  });

  it("needs nobody's where enough is free", () => {
    const enough = { ...starved, nodes: { ...starved.nodes, d: 8, e: 8 } };
    expect(found(enough)).toEqual({ candidates: [], withheld: [] });
  });

  it("gets nothing where nobody borrows", () => {
    const queues = [
      { ...ads, nominal: 24 },
      { ...search, nominal: 0 },
    ];
    expect(found({ ...starved, queues })).toEqual({ candidates: [], withheld: [] });
  });

  it("is not the only one: two get theirs from different work", () => {
    const queues = [
      { ...ads, nominal: 0 },
      { ...search, nominal: 8 },
      { name: "news", nominal: 16 },
    ];
    const [first] = starved.waiting ?? [];
    const waiting = ["search", "news"].flatMap((queue) => (first === undefined ? [] : [{ ...first, queue }]));
    const { candidates } = found({ ...starved, queues, waiting });
    expect(candidates.map(({ targets }) => targets)).toEqual([["Job ads/crawl"], ["Job ads/rank"]]);
  });

  it("is not found where all that is allocated is within share", () => {
    expect(found({ ...starved, waiting: [] })).toEqual({ candidates: [], withheld: [] });
  });
});

/** Kueue 5243: quota is freed, but on nodes where the waiting pod does not fit. */
describe("quota that comes free where it is of no use", () => {
  /** Small Jobs of ads: two on each of two nodes. The cheapest two are on different nodes. */
  const small = (name: string, node: string, hours: number): RunningJob => ({
    name,
    queue: "ads",
    nodes: [node],
    gpusPerPod: 4,
    hours,
  });
  const scattered: KueueCase = {
    nodes: { a: 8, b: 8 },
    queues: [
      { ...ads, nominal: 4 },
      { ...search, nominal: 12 },
    ],
    running: [small("a1", "a", 1), small("a2", "a", 6), small("b1", "b", 1), small("b2", "b", 5)],
    waiting: [{ name: "whole", queue: "search", pods: 1, gpusPerPod: 8 }],
  };

  it("is not taken: the pair that frees one node is, though it loses more", () => {
    const moment = kueueMoment(scattered);
    const candidate = onlyCandidate(foundBy(findReclaim, moment));
    expect(candidate.targets).toEqual(["Job ads/b1", "Job ads/b2"]);
    expect(gainsOf(moment, candidate)).toEqual({ mostAllocated: 8, leastAllocated: 8 });
  });

  it("stays with the plan that is open, unless another loses a quarter less", () => {
    const open = new Map([["r-1", { kind: "reclaim" as const, targets: ["Job ads/a1", "Job ads/a2"] }]]);
    const targetsOf = (running: readonly RunningJob[]) =>
      onlyCandidate(foundBy(findReclaim, { ...kueueMoment({ ...scattered, running }), open })).targets;
    expect(targetsOf(scattered.running ?? [])).toEqual(["Job ads/a1", "Job ads/a2"]);
    const dearer = [small("a1", "a", 1), small("a2", "a", 9), small("b1", "b", 1), small("b2", "b", 5)];
    expect(targetsOf(dearer)).toEqual(["Job ads/b1", "Job ads/b2"]);
  });

  it("is not advised at all where no set of work frees a node", () => {
    const pinned = { nodes: ["a"], queue: "search", gpusPerPod: 4, hours: 1 };
    const running = [
      small("a1", "a", 1),
      { ...pinned, name: "own-a" },
      small("b1", "b", 1),
      { ...pinned, nodes: ["b"], name: "own-b" },
    ];
    const queues = [
      { ...ads, nominal: 0 },
      { ...search, nominal: 16 },
    ];
    const { candidates, withheld } = found({ ...scattered, running, queues });
    expect(candidates).toEqual([]);
    expect(withheld).toMatchObject([{ kind: "reclaim", subject: "search", why: "no-plan" }]);
    expect(withheld[0]?.reason).toContain("of the 2 workloads that may be taken, no 5 or fewer together make room");
  });
});

describe("what may not be taken", () => {
  const withAll = (parts: Partial<RunningJob>): KueueCase => ({
    ...starved,
    running: (starved.running ?? []).map((one) => ({ ...one, ...parts })),
  });

  it.each([
    ["work of higher priority in queues that never give back", { priority: 10 }],
    ["work of equal priority in queues that never give back", { priority: 0 }],
  ])("is %s", (_, parts) => {
    const queues = [ads, { ...search, parts: { preemption: never } }];
    const { candidates, withheld } = found({ ...withAll(parts), queues });
    expect(candidates).toEqual([]);
    expect(withheld).toMatchObject([{ why: "guard" }]);
    expect(withheld[0]?.reason).toContain("reclaimWithinCohort of ClusterQueue search is Never");
  });

  it("is even what has a lower priority, where the policy takes nothing: the policy is named", () => {
    const queues = [ads, { ...search, parts: { preemption: never } }];
    const waiting = (starved.waiting ?? []).map((one) => ({ ...one, priority: 5 }));
    const { candidates, withheld } = found({ ...starved, waiting, queues });
    expect(candidates).toEqual([]);
    expect(withheld).toMatchObject([{ why: "guard" }]);
    const lower = [ads, { ...search, parts: { preemption: { ...never, reclaimWithinCohort: "LowerPriority" } } }];
    const { targets } = onlyCandidate(found({ ...starved, waiting, queues: lower }));
    expect(targets).toEqual(["Job ads/crawl", "Job ads/rank"]);
  });

  it("is what asks to be left alone: another is taken, and says so", () => {
    const annotations = {
      "kueue.x-k8s.io/workload": "job-crawl",
      "karpenter.sh/do-not-disrupt": "true",
    };
    const running = [
      wholeNode("embed", "a", 5),
      wholeNode("crawl", "b", 1, { pod: { annotations } }),
      wholeNode("rank", "c", 3),
    ];
    const candidate = onlyCandidate(found({ ...starved, running }));
    expect(candidate.targets).toEqual(["Job ads/rank", "Job ads/embed"]);
    expect(candidate.blockedAlternatives).toEqual([
      "ads/crawl (8 GPUs): Pod ads/crawl-0 asks not to be disrupted (annotation karpenter.sh/do-not-disrupt).",
    ]);
  });

  it("is not a Job near its backoffLimit: its queue takes it back whole, which is no failure", () => {
    const job = { backoffLimit: 6, failed: 6, onDisruption: "FailJob", isSuspended: false } as const;
    expect(onlyCandidate(found(withAll({ owner: { job } }))).targets).toHaveLength(2);
  });

  it("is whatever is only estimated", () => {
    const { candidates, withheld } = found({ ...starved, more: { telemetry: [] } });
    expect(candidates).toEqual([]);
    expect(withheld[0]?.reason).toContain("only estimated");
  });

  it("is more than the plan's limit of moves", () => {
    const { targets } = onlyCandidate(found({ ...starved, settings: { maxMoves: 1 } }));
    expect(targets).toEqual(["Job ads/crawl"]);
  });

  it("is half a gang: all of it counts and leaves", () => {
    const pair: RunningJob = { name: "pair", queue: "ads", nodes: ["a", "b"], gpusPerPod: 8, hours: 0.5 };
    const candidate = onlyCandidate(found({ ...starved, running: [pair, wholeNode("rank", "c", 9)] }));
    expect(candidate.targets).toEqual(["Job ads/pair"]);
    expect(candidate.disrupted).toHaveLength(2);
  });
});
