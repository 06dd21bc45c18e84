import { describe, expect, it } from "vitest";
import type { Candidate, Found } from "../../../exporter/advice/candidate.ts";
import { reducibleFragmentation } from "../../../exporter/advice/findOffers.ts";
import { findDefragment } from "../../../exporter/advice/kinds/defragment.ts";
import { allPieces } from "../../../exporter/advice/rounds/inPieces.ts";
import { placementRules } from "../../../exporter/advice/whatIf/plan.ts";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import type { NodePoolView } from "../../../exporter/join/snapshot.ts";
import { now } from "../../join/clusterBuilder.ts";
import { budget } from "../guards/guardMoment.ts";
import { type MoveCluster, type MoveNode, type MovePod, moveMoment, wants } from "./moveMoment.ts";

function found(
  cluster: MoveCluster,
): Found & { readonly only: Candidate | undefined; readonly gains: readonly number[] } {
  const moment = moveMoment(cluster);
  const trial = createTrial(moment);
  const result = allPieces(findDefragment(moment, trial));
  const [only] = result.candidates;
  const gains = only === undefined ? [] : placementRules.map((rule) => only.gainedGpus(trial.outcome(only.plan, rule)));
  return { ...result, only, gains };
}

const node = (name: string, gpus = 8, parts: Partial<MoveNode> = {}): MoveNode => ({ name, gpus, ...parts });
const pod = (name: string, on: string, gpus: number, parts: Partial<MovePod> = {}): MovePod => ({
  name,
  node: on,
  gpus,
  ...parts,
});

/** Three nodes of 8 GPUs that are used 7, 6 and 7 (volcano issue 3948). */
const scattered: MoveCluster = {
  nodes: [node("a100-01"), node("a100-02"), node("a100-03")],
  pods: [
    pod("x", "a100-01", 7),
    pod("eval-7", "a100-02", 1),
    pod("eval-8", "a100-02", 1),
    pod("y", "a100-02", 4),
    pod("z", "a100-03", 7),
  ],
  waiting: [wants("train-9", 1, 4)],
};

describe("advice to move pods for work that is blocked", () => {
  it("names what moves, what it costs and who then fits, with steps and signs", () => {
    const { only, gains, candidates, withheld } = found(scattered);
    expect([candidates.length, withheld]).toEqual([1, []]);
    expect(only).toMatchObject({
      kind: "defragment",
      beneficiary: { kind: "workload", name: "vision/train-9" },
      targets: ["Pod ads/eval-7", "Pod ads/eval-8"],
      title: "move ads/eval-7 and ads/eval-8 (2 GPUs) from a100-02: then vision/train-9 (4 GPUs) fits",
      fromTeam: "ads",
      forTeam: "vision",
      queue: "research",
      pool: "H100",
      disrupted: [1, 2],
      measuredBy: { kind: "work-started", work: ["uid-train-9", "Job/vision/train-9"] },
      confidence: { level: "medium" },
    });
    expect(only?.reason).toContain("vision/train-9 has waited for 2 h for 4 GPUs.");
    expect(only?.plan.starts).toEqual([0]);
    expect(only?.plan.changes.map((change) => (change.kind === "move" ? change.avoid : null))).toEqual([[1], [1]]);
    expect(only?.steps.map(({ request }) => `${request.verb} ${request.path}`)).toEqual([
      "PATCH /api/v1/nodes/a100-02",
      "POST /api/v1/namespaces/ads/pods/eval-7/eviction",
      "POST /api/v1/namespaces/ads/pods/eval-8/eviction",
      "PATCH /api/v1/nodes/a100-02",
    ]);
    expect(only?.signs).toEqual([
      {
        kind: "pods-left",
        pods: [
          { uid: "uid-eval-7", node: "a100-02" },
          { uid: "uid-eval-8", node: "a100-02" },
        ],
      },
    ]);
    expect(gains).toEqual([4, 4]);
  });

  it("names the nodes of a single move", () => {
    const { only } = found({
      nodes: [node("a100-03", 8), node("a100-05", 4)],
      pods: [pod("eval-7", "a100-03", 1), pod("y", "a100-05", 3)],
      waiting: [wants("train-9", 1, 8)],
    });
    expect(only?.title).toBe("move ads/eval-7 (1 GPU) from a100-03 to a100-05: then vision/train-9 (8 GPUs) fits");
  });

  it.each<[string, Partial<MoveCluster>, string, RegExp]>([
    [
      "too little is free elsewhere",
      { pods: [...scattered.pods.filter(({ name }) => !name.startsWith("eval")), pod("eval", "a100-02", 2)] },
      "no-plan",
      /no other node has room/,
    ],
    [
      "a budget allows no disruption",
      { parts: { podDisruptionBudgets: [budget(0, { namespace: "ads" })] } },
      "guard",
      /PodDisruptionBudget ads\/serving/,
    ],
    [
      "who would move has a higher priority",
      { pods: scattered.pods.map((one) => ({ ...one, priority: 200 })) },
      "guard",
      /priority 200/,
    ],
    [
      "nobody makes the pods again",
      { pods: scattered.pods.map((one) => ({ ...one, ownerKind: null })) },
      "guard",
      /no controller/,
    ],
    [
      "on which GPU pods are is only estimated",
      { pods: scattered.pods.map((one) => ({ ...one, estimated: true })) },
      "guard",
      /estimated/,
    ],
    [
      "one plan may move only one",
      { maxMoves: 1 },
      "no-plan",
      /ads\/eval-7, ads\/eval-8 would have to move, and one plan may move at most 1/,
    ],
  ])("is not given where %s", (_why, parts, why, reason) => {
    const { candidates, withheld } = found({ ...scattered, ...parts });
    expect(candidates).toEqual([]);
    expect(withheld).toMatchObject([{ kind: "defragment", subject: "vision/train-9", why }]);
    expect(withheld[0]?.reason).toMatch(reason);
  });

  it("is not given where two pods would have to move and their budget allows one disruption", () => {
    const { candidates, withheld } = found({
      ...scattered,
      parts: { podDisruptionBudgets: [budget(1, { namespace: "ads" })] },
    });
    expect(candidates).toEqual([]);
    expect(withheld[0]?.reason).toMatch(/PodDisruptionBudget ads\/serving/);
  });

  it("cordons a node while a pod is placed that must not go there", () => {
    const { only, gains } = found({
      nodes: [node("n1", 4), node("n2", 4), node("n3", 4)],
      pods: [
        pod("big", "n1", 3),
        pod("pinned", "n2", 1),
        pod("small", "n2", 1, { hours: 50 }),
        pod("last", "n3", 3, { hours: 500 }),
      ],
      waiting: [wants("train-9", 1, 4)],
    });
    expect(only?.plan.changes).toEqual([
      { kind: "move", pods: [1], avoid: [0, 1] },
      { kind: "move", pods: [0], avoid: [0] },
    ]);
    expect(only?.steps.map(({ title }) => title.split(" ").slice(0, 3).join(" "))).toEqual([
      "Cordon node n1",
      "Cordon node n2",
      "Evict pod ads/pinned",
      "Let pods onto",
      "Evict pod ads/big",
      "Let pods onto",
    ]);
    expect(gains).toEqual([4, 4]);
  });

  it("may move pods of the same priority", () => {
    const { only } = found({ ...scattered, pods: scattered.pods.map((one) => ({ ...one, priority: 100 })) });
    expect(only?.disrupted).toEqual([1, 2]);
  });

  it("says what guards forbid that would be cheaper", () => {
    const { only } = found({
      nodes: [node("n1"), node("n2"), node("n3")],
      pods: [
        pod("guarded", "n1", 1, { hours: 1, labels: { app: "serve" } }),
        pod("free", "n2", 1, { hours: 9 }),
        pod("full", "n3", 7, { hours: 99 }),
      ],
      waiting: [wants("train-9", 1, 8)],
      parts: { podDisruptionBudgets: [budget(0, { namespace: "ads", matchLabels: { app: "serve" } })] },
    });
    expect(only?.targets).toEqual(["Pod ads/free"]);
    expect(only?.blockedAlternatives).toEqual([
      expect.stringMatching(/^To move ads\/guarded .* would cost 1\.2 GPU-hours, but .*PodDisruptionBudget/),
    ]);
  });

  it("moves a gang whole, and a Job by letting it wait again", () => {
    const gang = { id: "ads/g", min: 2, bound: 2, partialSince: null };
    const { only, gains } = found({
      nodes: [node("n1", 4), node("n2", 4), node("n3", 4)],
      pods: [
        pod("g-0", "n1", 1, { of: "g", gang, ownerKind: "Job" }),
        pod("g-1", "n2", 1, { of: "g", gang, ownerKind: "Job" }),
        pod("rest", "n2", 2, { hours: 500 }),
        pod("more", "n3", 3, { hours: 500 }),
      ],
      waiting: [wants("train-9", 1, 4)],
    });
    expect(only?.targets).toEqual(["Job ads/g"]);
    expect(only?.disrupted.toSorted()).toEqual([0, 1]);
    expect(only?.steps.map(({ title }) => title)).toEqual([
      expect.stringMatching(/^Cordon .*n1/),
      expect.stringMatching(/^Suspend Job ads\/g/),
      expect.stringMatching(/^Let Job ads\/g wait/),
      expect.stringMatching(/n1/),
    ]);
    expect(gains).toEqual([4, 4]);
  });

  it("is not given to work whose queue is full, nor to what fits, nor without anything blocked", () => {
    const { candidates, withheld } = found({ ...scattered, limit: 3 });
    expect(candidates).toEqual([]);
    expect(withheld[0]?.reason).toMatch(/quota/);
    expect(found({ ...scattered, waiting: [wants("small", 1, 1)] })).toMatchObject({ candidates: [], withheld: [] });
    expect(found({ ...scattered, waiting: [] })).toMatchObject({ candidates: [], withheld: [] });
  });

  it("moves nothing onto a cordoned node", () => {
    const free = node("a100-04", 8, { schedulable: false });
    const { only } = found({ ...scattered, nodes: [...scattered.nodes, free] });
    const changes = only?.plan.changes ?? [];
    expect(changes.length).toBe(2);
    expect(changes.every((change) => change.kind === "move" && !change.avoid.includes(3))).toBe(true);
  });

  it("does not depend on the order of nodes and pods", () => {
    const turned = found({ ...scattered, nodes: scattered.nodes.toReversed(), pods: scattered.pods.toReversed() });
    expect(turned.only?.title).toBe(found(scattered).only?.title);
  });
});

describe("advice to free whole nodes", () => {
  const pool = (parts: Partial<NodePoolView> = {}): NodePoolView => ({
    name: "gpu",
    manager: "karpenter",
    limitGpus: null,
    consolidationPolicy: "WhenEmpty",
    consolidateAfterSeconds: 300,
    minNodes: null,
    maxNodes: null,
    capacityTypes: null,
    nodes: 2,
    physicalGpus: 16,
    ...parts,
  });
  const inPool = { nodePool: "gpu" } as const;
  const spread: MoveCluster = {
    nodes: [node("n1", 8, inPool), node("n2", 8, inPool)],
    pods: [pod("a", "n1", 2, { hours: 1 }), pod("b", "n2", 3, { hours: 1 })],
    parts: { nodePools: [pool()] },
  };

  it("is given where an autoscaler could let one go and nothing waits", () => {
    const { only, gains } = found(spread);
    expect(only).toMatchObject({
      beneficiary: { kind: "pool", name: "H100" },
      title: "move ads/a (2 GPUs) from n1 to n2: then n1 is empty and is removed",
      measuredBy: { kind: "nodes-removed", nodes: [{ name: "n1", gpus: 8 }] },
      plan: { changes: [{ kind: "move" }, { kind: "removeNode", node: 0 }], starts: [] },
      unused: [{ node: "n1", gpus: 8, since: now - 3600 }],
    });
    expect(gains).toEqual([8, 8]);
  });

  it("counts no node that is filled in turn: free ones are cordoned meanwhile", () => {
    const { only, gains } = found({ ...spread, nodes: [...spread.nodes, node("n3", 8, inPool)] });
    expect(only?.plan.changes).toMatchObject([{ kind: "move", avoid: [0, 2] }, { kind: "removeNode" }]);
    expect(gains).toEqual([8, 8]);
  });

  it.each<[string, Partial<MoveCluster>]>([
    ["an empty node stays", { parts: { nodePools: [pool({ consolidateAfterSeconds: null })] } }],
    [
      "Karpenter does it by itself",
      { parts: { nodePools: [pool({ consolidationPolicy: "WhenEmptyOrUnderutilized" })] } },
    ],
    [
      "the Cluster Autoscaler does it by itself, of a node that is used by less than half",
      { parts: { nodePools: [pool({ manager: "cluster-autoscaler", minNodes: 0 })] } },
    ],
    ["nobody knows what becomes of an empty node", { parts: { nodePools: [pool({ consolidationPolicy: null })] } }],
    [
      "the nodes are reserved: they are paid for either way",
      { nodes: spread.nodes.map((one) => ({ ...one, capacityType: "reserved" })) },
    ],
    ["nobody removes nodes", { parts: { nodePools: [pool({ manager: "none" })] } }],
    [
      "the group is as small as it may be",
      { parts: { nodePools: [pool({ manager: "cluster-autoscaler", minNodes: 2 })] } },
    ],
    ["something waits", { waiting: [wants("later", 1, 8, { since: null, bound: 0 })], limit: 1 }],
    [
      "queues cannot be read, so that something may wait",
      {
        parts: {
          nodePools: [pool()],
          problems: [
            {
              source: "join",
              code: "queues-unknown",
              severity: "warning",
              subject: null,
              message: "kueueWorkloads cannot be read",
              nextStep: "",
            },
          ],
        },
      },
    ],
    ["all is packed already", { pods: [pod("a", "n1", 8), pod("b", "n2", 3)] }],
  ])("is not given where %s", (_why, parts) => {
    expect(found({ ...spread, ...parts }).candidates).toEqual([]);
  });
});

describe("reducible fragmentation", () => {
  it("is what the best plan of a pool takes away, under the worse placement rule", () => {
    const tried = (pool: string, before: number, ...after: number[]) => ({
      candidate: { kind: "defragment", pool } as const,
      before: { expectedFragmentation: before },
      outcomes: after.map((expectedFragmentation) => ({ measures: { expectedFragmentation } })),
    });
    const plans = [tried("A", 10, 4, 7), tried("A", 10, 5, 6), tried("B", 3, 5, 1), tried("", 9, 0, 0)];
    expect([...reducibleFragmentation(plans)]).toEqual([
      ["A", 4],
      ["B", 0],
    ]);
    expect(reducibleFragmentation([{ ...tried("A", 9, 0), candidate: { kind: "reclaim", pool: "A" } }]).size).toBe(0);
  });
});
