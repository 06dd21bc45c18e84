import { describe, expect, it } from "vitest";
import { findFixScheduler } from "../../../exporter/advice/kinds/fixScheduler.ts";
import { findGangsToStart } from "../../../exporter/advice/kinds/gangsToStart.ts";
import { findReclaim } from "../../../exporter/advice/kinds/reclaim.ts";
import { placementRules } from "../../../exporter/advice/whatIf/plan.ts";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import { pairsOf } from "../../analysis/fairness/constructedCluster.ts";
import { foundBy, gainsOf, type KueueCase, kueueMoment, onlyCandidate, type TestQueue } from "./kueueCluster.ts";

const product = (name: string) => ({ "nvidia.com/gpu.product": name });
const [a100, h100] = [product("NVIDIA-A100-SXM4-80GB"), product("NVIDIA-H100-80GB-HBM3")];
const queue = (name: string, quotas: Readonly<Record<string, number>>, reclaim = "Any"): TestQueue => ({
  name,
  nominal: 0,
  quotas,
  parts: { preemption: { reclaimWithinCohort: reclaim, withinClusterQueue: "Never", borrowWithinCohort: "Never" } },
});
const own = { name: "own-waits", queue: "own", pods: 1, gpusPerPod: 8 };

/** Own waits: its quota is in the flavor that it tries last, and another queue borrows it there. Others own the first flavor. */
const laterFlavor: KueueCase = {
  nodes: { a: 8, h: 8 },
  labels: { a: a100, h: h100 },
  flavors: { a100, h100 },
  queues: [queue("own", { a100: 0, h100: 8 }), queue("borrower", { h100: 0 }), queue("first", { a100: 8 })],
  running: [
    { name: "first-own", queue: "first", flavor: "a100", nodes: ["a"], gpusPerPod: 8, hours: 1 },
    { name: "borrows", queue: "borrower", nodes: ["h"], gpusPerPod: 8, hours: 3 },
  ],
  waiting: [own],
};

const found = (given: KueueCase) => foundBy(findReclaim, kueueMoment(given));

describe("a queue whose own quota is in a later flavor", () => {
  it("gets it back from who borrows it there, and starts there", () => {
    const moment = kueueMoment(laterFlavor);
    expect(pairsOf(moment.analysis)).toEqual(["own < borrower: 8"]);
    const candidate = onlyCandidate(foundBy(findReclaim, moment));
    expect(candidate).toMatchObject({
      title: "give own 8 H100-80GB-HBM3 back: requeue borrower/borrows (8)",
      targets: ["Job borrower/borrows"],
      queue: "own",
      pool: "H100-80GB-HBM3",
    });
    expect(gainsOf(moment, candidate)).toEqual({ mostAllocated: 8, leastAllocated: 8 });
    const trial = createTrial(moment);
    const { domains } = moment.analysis.snapshot.queueing;
    for (const rule of placementRules) {
      const { snapshot, measures } = trial.outcome(candidate.plan, rule);
      const holding = snapshot.queueing.queues
        .filter(({ isLeaf, allocated }) => isLeaf && allocated > 0)
        .map(({ name, domain, allocated }) => [name, domains[domain]?.name, allocated]);
      expect(holding).toEqual([
        ["first", "A100-SXM4-80GB", 8],
        ["own", "H100-80GB-HBM3", 8],
      ]);
      expect(measures.pendingGpus).toBe(0);
      expect(measures.deviations.map(({ gpus }) => gpus)).toEqual(measures.deviations.map(() => 0));
    }
  });

  it("gets it back, too, while its quota in the earlier flavor is used", () => {
    const given: KueueCase = {
      ...laterFlavor,
      queues: [queue("own", { a100: 8, h100: 8 }), queue("borrower", { h100: 0 })],
      running: [
        { name: "own-runs", queue: "own", flavor: "a100", nodes: ["a"], gpusPerPod: 8 },
        { name: "borrows", queue: "borrower", nodes: ["h"], gpusPerPod: 8 },
      ],
    };
    expect(pairsOf(kueueMoment(given).analysis)).toEqual(["own < borrower: 8"]);
    expect(onlyCandidate(found(given)).targets).toEqual(["Job borrower/borrows"]);
  });

  it("gets a whole gang's back, and nothing where it lies on nodes in pieces that its pods do not fit into", () => {
    const gang = { ...own, pods: 2, gpusPerPod: 4 };
    const moment = kueueMoment({ ...laterFlavor, waiting: [gang] });
    const candidate = onlyCandidate(foundBy(findReclaim, moment));
    expect(gainsOf(moment, candidate)).toEqual({ mostAllocated: 8, leastAllocated: 8 });
    const pieces: KueueCase = {
      ...laterFlavor,
      nodes: { a: 8, h: 4, i: 4 },
      labels: { a: a100, h: h100, i: h100 },
      running: [
        ...(laterFlavor.running ?? []).slice(0, 1),
        { name: "borrows", queue: "borrower", nodes: ["h", "i"], gpusPerPod: 4, hours: 3 },
      ],
    };
    expect(onlyCandidate(found({ ...pieces, waiting: [gang] })).targets).toEqual(["Job borrower/borrows"]);
    expect(found({ ...pieces, waiting: [own] }).candidates).toEqual([]);
  });

  it("gets both back where others borrow both: one gang in each flavor", () => {
    const given: KueueCase = {
      ...laterFlavor,
      queues: [queue("own", { a100: 8, h100: 8 }), queue("borrower", { a100: 0, h100: 0 })],
      running: [
        { name: "in-a100", queue: "borrower", flavor: "a100", nodes: ["a"], gpusPerPod: 8 },
        { name: "in-h100", queue: "borrower", nodes: ["h"], gpusPerPod: 8 },
      ],
      waiting: [own, { ...own, name: "own-waits-too" }],
    };
    const moment = kueueMoment(given);
    const { candidates } = foundBy(findReclaim, moment);
    expect(candidates.map(({ pool, targets }) => [pool, targets]).sort()).toEqual([
      ["A100-SXM4-80GB", ["Job borrower/in-a100"]],
      ["H100-80GB-HBM3", ["Job borrower/in-h100"]],
    ]);
    for (const candidate of candidates)
      expect(gainsOf(moment, candidate)).toEqual({ mostAllocated: 8, leastAllocated: 8 });
    // Both may be done: each starts another gang.
    const all = {
      changes: candidates.flatMap(({ plan }) => plan.changes),
      starts: candidates.flatMap(({ plan }) => plan.starts),
    };
    const together = createTrial(moment).outcome(all, "mostAllocated");
    expect(candidates.map(({ gainedGpus }) => gainedGpus(together))).toEqual([8, 8]);
  });

  it("leaves the earlier flavor's GPUs to the gang that fits there, and gets the next its own", () => {
    const given: KueueCase = {
      ...laterFlavor,
      queues: [queue("own", { a100: 8, h100: 8 }), queue("borrower", { h100: 0 })],
      running: [{ name: "borrows", queue: "borrower", nodes: ["h"], gpusPerPod: 8 }],
      waiting: [own, { ...own, name: "own-waits-too" }],
    };
    const moment = kueueMoment(given);
    const candidate = onlyCandidate(foundBy(findReclaim, moment));
    expect(candidate.targets).toEqual(["Job borrower/borrows"]);
    expect(gainsOf(moment, candidate)).toEqual({ mostAllocated: 8, leastAllocated: 8 });
  });

  it("is helped by the setting where Kueue takes nothing back", () => {
    const queues = [queue("own", { a100: 0, h100: 8 }, "Never"), ...laterFlavor.queues.slice(1)];
    const moment = kueueMoment({ ...laterFlavor, queues });
    const { candidates, withheld } = foundBy(findReclaim, moment);
    expect(candidates).toEqual([]);
    expect(withheld.map(({ reason }) => reason)).toEqual([expect.stringContaining("reclaimWithinCohort")]);
    const { title, plan } = onlyCandidate(foundBy(findFixScheduler, moment));
    expect(title).toBe(
      "let ClusterQueue own take back what its cohort borrows: 8 H100-80GB-HBM3 of waiting work start",
    );
    expect(plan.starts).toHaveLength(1);
  });
});

describe("a flavor within another", () => {
  const spot = { "karpenter.sh/capacity-type": "spot" };
  /** Own may use spot nodes alone; both flavors of the borrower count over them. */
  const given = (ofSpot: number, ofAny: number): KueueCase => ({
    nodes: { r: 8, s: 8 },
    labels: { r: h100, s: { ...h100, ...spot } },
    flavors: { spot: { ...h100, ...spot }, any: h100 },
    queues: [queue("own", { spot: 8 }), queue("borrower", { spot: 0, any: 8 })],
    running: [
      { name: "on-spot", queue: "borrower", flavor: "spot", nodes: ["s"], gpusPerPod: 8, hours: ofSpot },
      { name: "on-reserved", queue: "borrower", flavor: "any", nodes: ["r"], gpusPerPod: 8, hours: ofAny },
    ],
    waiting: [{ ...own, gpusPerPod: 4 }],
  });

  it.each([
    ["more", 5, 1],
    ["less", 1, 5],
  ])("is given back where its nodes are, whether that loses more or less than elsewhere: %s", (_, ofSpot, ofAny) => {
    const moment = kueueMoment(given(ofSpot, ofAny));
    expect(pairsOf(moment.analysis)).toEqual(["own < borrower: 4"]);
    expect(onlyCandidate(foundBy(findReclaim, moment)).targets).toEqual(["Job borrower/on-spot"]);
  });

  it("is given back, too, while GPUs are free that its work may not use", () => {
    const running = (given(1, 1).running ?? []).filter(({ name }) => name === "on-spot");
    const queues = [queue("own", { spot: 8 }), queue("borrower", { spot: 0 })];
    const moment = kueueMoment({ ...given(1, 1), queues, running });
    expect(pairsOf(moment.analysis)).toEqual(["own < borrower: 4"]);
    expect(onlyCandidate(foundBy(findReclaim, moment)).targets).toEqual(["Job borrower/on-spot"]);
  });
});

describe("nothing is taken in a later flavor", () => {
  it("by a queue that takes back from lower priorities alone, of work of its own priority", () => {
    const queues = [queue("own", { a100: 0, h100: 8 }, "LowerPriority"), ...laterFlavor.queues.slice(1)];
    const moment = kueueMoment({ ...laterFlavor, queues });
    expect(pairsOf(moment.analysis)).toEqual([]);
    expect(foundBy(findReclaim, moment).candidates).toEqual([]);
    const waiting = [{ ...own, priority: 5 }];
    expect(onlyCandidate(found({ ...laterFlavor, queues, waiting })).targets).toEqual(["Job borrower/borrows"]);
  });

  it("of a queue within its guarantee", () => {
    const queues = [queue("own", { a100: 0, h100: 0 }), queue("borrower", { h100: 8 }), queue("first", { a100: 8 })];
    const moment = kueueMoment({ ...laterFlavor, queues });
    expect(pairsOf(moment.analysis)).toEqual([]);
    expect(foundBy(findReclaim, moment)).toEqual({ candidates: [], withheld: [] });
  });

  it("that is too little for a gang", () => {
    const queues = [queue("own", { a100: 0, h100: 4 }), queue("borrower", { h100: 4 }), queue("first", { a100: 8 })];
    const moment = kueueMoment({ ...laterFlavor, queues });
    expect(pairsOf(moment.analysis)).toEqual([]);
    expect(foundBy(findReclaim, moment)).toEqual({ candidates: [], withheld: [] });
  });

  it("for work that its own node selector keeps in the earlier one", () => {
    const selects: KueueCase = { ...laterFlavor, waiting: [{ ...own, nodeSelector: a100 }] };
    const moment = kueueMoment(selects);
    expect(pairsOf(moment.analysis)).toEqual([]);
    expect(foundBy(findReclaim, moment).candidates).toEqual([]);
    const twin = { ...laterFlavor, waiting: [{ ...own, nodeSelector: h100 }] };
    expect(onlyCandidate(found(twin)).targets).toEqual(["Job borrower/borrows"]);
  });

  it("of work that asks to be left alone: the advice says whose", () => {
    const annotations = { "kueue.x-k8s.io/workload": "job-borrows", "karpenter.sh/do-not-disrupt": "true" };
    const running = (laterFlavor.running ?? []).map((job) =>
      job.name === "borrows" ? { ...job, pod: { annotations } } : job,
    );
    const { candidates, withheld } = found({ ...laterFlavor, running });
    expect(candidates).toEqual([]);
    expect(withheld).toMatchObject([{ subject: "own", why: "guard" }]);
    expect(withheld[0]?.reason).toContain("8 H100-80GB-HBM3 are owed to its waiting work, but borrower/borrows");
  });

  it("where its work has the earlier flavor's free GPUs", () => {
    const queues = [queue("own", { a100: 8, h100: 8 }), queue("borrower", { h100: 0 })];
    const running = (laterFlavor.running ?? []).filter(({ name }) => name === "borrows");
    const moment = kueueMoment({ ...laterFlavor, queues, running });
    expect(pairsOf(moment.analysis)).toEqual([]);
    expect(foundBy(findReclaim, moment)).toEqual({ candidates: [], withheld: [] });
  });
});

describe("GPUs that come free in a later flavor", () => {
  const moment = kueueMoment(laterFlavor);
  const { queues, domains } = moment.analysis.snapshot.queueing;
  const records = queues.flatMap(({ name, domain }, index) => (name === "own" ? [{ index, domain }] : []));
  const recordIn = (pool: string) => records.find(({ domain }) => domains[domain]?.pools.includes(pool))?.index ?? -1;
  const served = (pool: string, queue: number) =>
    findGangsToStart(moment.analysis)({ byPool: new Map([[pool, 8]]), queues: new Set([queue]) });

  it("serve work that is counted in an earlier one, where its own queue lets them go", () => {
    expect(served("H100-80GB-HBM3", recordIn("H100-80GB-HBM3"))).toEqual([0]);
  });

  it("serve nothing where another queue lets them go, or where they are of another pool", () => {
    expect(
      served(
        "H100-80GB-HBM3",
        queues.findIndex(({ name }) => name === "borrower"),
      ),
    ).toEqual([]);
    expect(served("L4", recordIn("H100-80GB-HBM3"))).toEqual([]);
  });
});
