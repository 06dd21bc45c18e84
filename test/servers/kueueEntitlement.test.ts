import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "./kubernetesAdmin.ts";
import { createGatedPods, gatesOf, runUngatedPods, scaleJob } from "./queues/elasticJob.ts";
import type { GpuNode } from "./queues/gpuNodes.ts";
import { startPods } from "./queues/jobPods.ts";
import {
  absentFor,
  amountOf,
  documentOf,
  type JudgedDocument,
  pairsOf,
  reclaimedIn,
  saidOf,
  settingsIn,
} from "./queues/judgedDocument.ts";
import { type ScenarioCluster, startScenarioCluster } from "./queues/kueueScenario.ts";
import { admittedPods, answerCheck, checksOf, slicesOf } from "./queues/kueueWorkloads.ts";
import type { Look } from "./queues/lookAt.ts";
import type { ScenarioJob } from "./queues/scenarioObjects.ts";

/**
 * Whom Kueue preempts is whom Fairlead blames, and whom it never preempts Fairlead never blames. In each case the first test
 * has Kueue show what it does, and the second what Fairlead says about the same moments.
 */

const h100 = "NVIDIA-H100-80GB-HBM3";
const a100 = "NVIDIA-A100-SXM4-80GB";
const capacityType = (type: string) => ({ "karpenter.sh/capacity-type": type });
const product = (name: string) => ({ "nvidia.com/gpu.product": name });
const eightGpus = (name: string, model: string, labels: Readonly<Record<string, string>> = {}): GpuNode => ({
  name,
  product: model,
  gpus: 8,
  labels,
});
const job = (name: string, gpus: number, more: Partial<ScenarioJob> = {}): ScenarioJob => ({
  name,
  pods: 1,
  gpus,
  ...more,
});

let cluster: ScenarioCluster;

beforeAll(async () => {
  cluster = await startScenarioCluster({ urgent: 1000 });
}, 900_000);

afterAll(async () => await cluster?.stop());

/** What Fairlead saw at a moment that Kueue's part of the case went through. */
function seen(look: Look | undefined): JudgedDocument {
  if (look === undefined) throw new Error("Kueue's part of this case did not come so far");
  return documentOf(look);
}

/** Nobody is blamed, and nobody's work is advised to be taken. */
function expectNoBlame(document: JudgedDocument): void {
  expect({ pairs: pairsOf(document), reclaimed: reclaimedIn(document) }).toEqual({ pairs: [], reclaimed: [] });
}

/** One queue is blamed for what another is short of, and the job that Kueue takes for it is advised to be taken. */
function expectBlame(document: JudgedDocument, pair: string, taken: string): void {
  expect({ pairs: pairsOf(document), reclaimed: reclaimedIn(document) }).toEqual({ pairs: [pair], reclaimed: [taken] });
}

/** Kueue has preempted this job of this queue to give it what is its own, and nobody else's. */
async function expectReclaimed(queue: string, name: string): Promise<void> {
  await cluster.comes(name, "Evicted", "True: Preempted");
  expect(await cluster.preempted()).toEqual([{ queue, job: name, reason: "InCohortReclamation" }]);
}

/** Kueue tries again and again, and preempts nobody for it. */
async function expectToWait(queue: string, name: string): Promise<void> {
  await cluster.comes(name, "QuotaReserved", "False");
  await cluster.tryAgain(queue);
  await cluster.comes(name, "QuotaReserved", "False");
  expect(await cluster.preempted()).toEqual([]);
}

/**
 * Has a queue on hold reclaim from any. A job unlike those that wait shows that Kueue knows of the hold by then: of what is
 * like work that found no quota it says nothing more.
 */
async function reclaimFromAny(queue: string): Promise<void> {
  await cluster.submitOnHold(queue, job("unlike", 1));
  await cluster.withdraw(queue, "unlike");
  await cluster.change(queue, { preemption: { reclaimWithinCohort: "Any" } });
}

describe("two flavors of one GPU model", () => {
  const flavors = { reserved: capacityType("reserved"), spot: capacityType("spot") };
  const reserved = eightGpus("reserved-1", h100, capacityType("reserved"));
  const spot = eightGpus("spot-1", h100, capacityType("spot"));
  const borrowerOfSpot = { quotas: { spot: 4, reserved: 0 } };

  const borrowSpot = async (): Promise<void> => {
    await cluster.run("cq-b", job("b-own", 4), ["spot-1"]);
    await cluster.run("cq-b", job("b-borrows", 4), ["spot-1"]);
    await cluster.reserves("cq-b", { spot: 8, reserved: 0 });
  };

  describe("and the one that the work may use is promised twice", () => {
    let look: Look | undefined;

    it("Kueue admits the work, which then finds no node, and preempts nobody", async () => {
      await cluster.setUp({
        flavors,
        nodes: [reserved, spot],
        queues: {
          "cq-a": { quotas: { reserved: 8 }, reclaim: "Any" },
          "cq-b": borrowerOfSpot,
          "cq-c": { quotas: { reserved: 8, spot: 4 } },
        },
      });
      await cluster.run("cq-c", job("c-own", 8), ["reserved-1"]);
      await borrowSpot();
      await cluster.run("cq-a", job("a-waits", 8), []);
      await cluster.reserves("cq-c", { reserved: 8, spot: 0 });
      expect(await cluster.preempted()).toEqual([]);
      look = await cluster.look();
    });

    it("Fairlead blames nobody, and says that the guarantee has no nodes", () => {
      const document = seen(look);
      expectNoBlame(document);
      expect(amountOf(document, "cq-b", "deviation")).toBe(0);
      expect(amountOf(document, "cq-c", "deviation")).toBe(0);
      expect(absentFor(document, "cq-a")).toBe(8);
      expect(amountOf(document, "cq-a", "shortfallByBorrowers")).toBe(0);
      expect(amountOf(document, "cq-a", "shortfallByIdleGap")).toBe(0);
    });
  });

  describe("and the one that the work may use is allocated within the guarantees", () => {
    let look: Look | undefined;

    it("Kueue lets the work wait, and preempts nobody", async () => {
      await cluster.setUp({
        flavors,
        nodes: [reserved, eightGpus("reserved-2", h100, capacityType("reserved")), spot],
        queues: {
          "cq-a": { quotas: { reserved: 8 }, reclaim: "Any" },
          "cq-b": borrowerOfSpot,
          "cq-c": { quotas: { reserved: 8, spot: 4 } },
        },
      });
      await cluster.run("cq-c", job("c-own", 8), ["reserved-1"]);
      await borrowSpot();
      await cluster.run("cq-a", job("a-own", 8), ["reserved-2"]);
      await cluster.submit("cq-a", job("a-waits", 8));
      await expectToWait("cq-a", "a-waits");
      look = await cluster.look();
    });

    it("Fairlead blames nobody: each queue has what it is entitled to", () => {
      const document = seen(look);
      expectNoBlame(document);
      for (const [queue, entitled] of [
        ["cq-a", 8],
        ["cq-b", 8],
        ["cq-c", 8],
      ] as const)
        expect([queue, amountOf(document, queue, "entitled"), amountOf(document, queue, "deviation")]).toEqual([
          queue,
          entitled,
          0,
        ]);
    });
  });

  describe("and the one that the work may use is borrowed", () => {
    const looks: { never?: Look; any?: Look } = {};

    it("Kueue preempts who borrows there, if the queue may reclaim at all, and never who borrows the other one", async () => {
      await cluster.setUp({
        flavors,
        nodes: [reserved, spot],
        queues: {
          "cq-a": { quotas: { reserved: 8 } },
          "cq-b": borrowerOfSpot,
          "cq-c": { quotas: { reserved: 0, spot: 4 } },
        },
      });
      await cluster.run("cq-c", job("c-borrows", 8), ["reserved-1"]);
      await borrowSpot();
      await cluster.submit("cq-a", job("a-waits", 8));
      await expectToWait("cq-a", "a-waits");
      looks.never = await cluster.look();
      await reclaimFromAny("cq-a");
      looks.any = await cluster.justBefore("cq-a");
      await expectReclaimed("cq-c", "c-borrows");
    });

    it("Fairlead names that borrower where Kueue preempts it", () => {
      const document = seen(looks.any);
      expectBlame(document, "cq-a < cq-c: 8", "Job cq-c/c-borrows");
      expect(amountOf(document, "cq-a", "shortfallByBorrowers")).toBe(8);
      expect(amountOf(document, "cq-a", "deviation")).toBe(-8);
      expect(amountOf(document, "cq-b", "deviation")).toBe(0);
    });

    it("Fairlead pairs nobody, and names the setting, where Kueue would not", () => {
      const document = seen(looks.never);
      expectNoBlame(document);
      expect(saidOf(document, "cq-a")).toContain("reclaimWithinCohort");
      expect(settingsIn(document)).toEqual(["ClusterQueue cq-a"]);
    });
  });
});

describe("a queue whose own quota is in the later flavor", () => {
  const flavors = { a100: product(a100), h100: product(h100) };
  const nodes = [eightGpus("a100-1", a100), eightGpus("h100-1", h100)];

  describe("while another queue borrows it", () => {
    let look: Look | undefined;

    it("Kueue reclaims it from that queue, and takes nothing in the earlier flavor", async () => {
      await cluster.setUp({
        flavors,
        nodes,
        queues: {
          "cq-own": { quotas: { a100: 0, h100: 8 }, reclaim: "Any" },
          "cq-b": { quotas: { h100: 0 } },
          "cq-c": { quotas: { a100: 8 } },
        },
      });
      await cluster.run("cq-c", job("c-own", 8), ["a100-1"]);
      await cluster.run("cq-b", job("b-borrows", 8), ["h100-1"]);
      await cluster.submitOnHold("cq-own", job("own-waits", 8));
      look = await cluster.justBefore("cq-own");
      await expectReclaimed("cq-b", "b-borrows");
    });

    it("Fairlead says that it is short of all 8, and who has them", () => {
      const document = seen(look);
      expectBlame(document, "cq-own < cq-b: 8", "Job cq-b/b-borrows");
      expect(amountOf(document, "cq-own", "deviation")).toBe(-8);
      expect(amountOf(document, "cq-own", "shortfallByBorrowers")).toBe(8);
      expect(amountOf(document, "cq-c", "deviation")).toBe(0);
    });
  });

  describe("while another queue borrows it, and its quota in the earlier flavor is used", () => {
    let look: Look | undefined;

    it("Kueue reclaims it from that queue", async () => {
      await cluster.setUp({
        flavors,
        nodes,
        queues: {
          "cq-own": { quotas: { a100: 8, h100: 8 }, reclaim: "Any" },
          "cq-b": { quotas: { h100: 0 } },
        },
      });
      await cluster.run("cq-own", job("own-runs", 8), ["a100-1"]);
      await cluster.run("cq-b", job("b-borrows", 8), ["h100-1"]);
      await cluster.submitOnHold("cq-own", job("own-waits", 8));
      look = await cluster.justBefore("cq-own");
      await expectReclaimed("cq-b", "b-borrows");
    });

    it("Fairlead says that it is short of 8, and who has them", () => {
      const document = seen(look);
      expectBlame(document, "cq-own < cq-b: 8", "Job cq-b/b-borrows");
      expect(amountOf(document, "cq-own", "deviation")).toBe(-8);
    });
  });

  describe("without any quota of its own there", () => {
    let look: Look | undefined;

    it("Kueue lets it wait, and preempts nobody", async () => {
      await cluster.setUp({
        flavors,
        nodes,
        queues: {
          "cq-own": { quotas: { a100: 0, h100: 0 }, reclaim: "Any" },
          "cq-b": { quotas: { h100: 8 } },
          "cq-c": { quotas: { a100: 8 } },
        },
      });
      await cluster.run("cq-c", job("c-own", 8), ["a100-1"]);
      await cluster.run("cq-b", job("b-own", 8), ["h100-1"]);
      await cluster.submit("cq-own", job("own-waits", 8));
      await expectToWait("cq-own", "own-waits");
      look = await cluster.look();
    });

    it("Fairlead says that it lacks nothing that is its own", () => {
      const document = seen(look);
      expectNoBlame(document);
      for (const queue of ["cq-own", "cq-b", "cq-c"])
        expect([queue, amountOf(document, queue, "deviation")]).toEqual([queue, 0]);
    });
  });
});

describe("an elastic job", () => {
  const elastic = job("elastic", 1, { pods: 4, annotations: { "kueue.x-k8s.io/elastic-job": "true" } });

  /** Four pods run beside work of another size; then the job asks for six. */
  async function grow(beside: number): Promise<void> {
    const { admin } = cluster;
    await cluster.setUp({
      flavors: { h100: product(h100) },
      nodes: [eightGpus("h100-1", h100)],
      queues: { "cq-a": { quotas: { h100: 8 } } },
    });
    await cluster.run("cq-a", job("beside", beside), ["h100-1"]);
    await cluster.submit("cq-a", elastic);
    await cluster.comes("elastic", "Admitted", "True");
    await createGatedPods(admin, "cq-a", "elastic", [0, 1, 2, 3]);
    await runUngatedPods(admin, "cq-a", "elastic", [0, 1, 2, 3], "h100-1");
    await scaleJob(admin, "cq-a", "elastic", 6);
    await createGatedPods(admin, "cq-a", "elastic", [4, 5]);
    await until("there are two slices", async () => (await slicesOf(cluster.admin, "elastic")).length === 2);
  }

  describe("that grows by two where one is left", () => {
    let look: Look | undefined;

    it("Kueue lets the growth wait, and what runs run", async () => {
      await grow(3);
      await expectNoGrowth();
      look = await cluster.look();
    });

    async function expectNoGrowth(): Promise<void> {
      await cluster.tryAgain("cq-a");
      expect(await slicesOf(cluster.admin, "elastic")).toEqual([
        { pods: 4, replaces: false, is: "Admitted: Admitted" },
        { pods: 6, replaces: true, is: "waits" },
      ]);
      await cluster.reserves("cq-a", { h100: 7 });
      expect((await gatesOf(cluster.admin, "cq-a", "elastic-4")).length).toBe(1);
    }

    it("Fairlead counts two GPUs that wait for quota", () => {
      const document = seen(look);
      expect(amountOf(document, "cq-a", "allocated")).toBe(7);
      expect(amountOf(document, "cq-a", "pending")).toBe(2);
      expect(document.pending.map(({ name, gpus, cause }) => ({ name, gpus, cause }))).toEqual([
        { name: "elastic", gpus: 2, cause: "quota" },
      ]);
      expectNoBlame(document);
    });
  });

  describe("that grows by two where two are left", () => {
    let look: Look | undefined;

    it("Kueue admits it: it asks for two, not for six", async () => {
      await grow(2);
      await until(
        "the old slice has ended",
        async () => (await slicesOf(cluster.admin, "elastic"))[0]?.is.startsWith("Finished") === true,
      );
      expect(await slicesOf(cluster.admin, "elastic")).toEqual([
        { pods: 4, replaces: false, is: "Finished: WorkloadSliceReplaced" },
        { pods: 6, replaces: true, is: "Admitted: Admitted" },
      ]);
      await runUngatedPods(cluster.admin, "cq-a", "elastic", [4, 5], "h100-1");
      await cluster.reserves("cq-a", { h100: 8 });
      look = await cluster.look();
    });

    it("Fairlead says that nothing waits", () => {
      const document = seen(look);
      expect(amountOf(document, "cq-a", "allocated")).toBe(8);
      expect(amountOf(document, "cq-a", "pending")).toBe(0);
      expect(document.pending).toEqual([]);
    });
  });
});

describe("an AdmissionCheck on which no controller works", () => {
  const message = "2 nodes are asked for";
  const looks: { pending?: Look; ready?: Look } = {};

  it("Kueue reserves quota, and admits the work only when the check is ready", async () => {
    const { admin } = cluster;
    await cluster.setUp({
      flavors: { h100: product(h100) },
      nodes: [eightGpus("h100-1", h100)],
      checks: ["more-nodes"],
      queues: { "cq-a": { quotas: { h100: 8 }, checks: ["more-nodes"] } },
    });
    await cluster.submit("cq-a", job("checked", 4, { pods: 2 }));
    await cluster.comes("checked", "QuotaReserved", "True");
    await until("the check is asked", async () => (await checksOf(admin)).length > 0);
    await answerCheck(admin, "more-nodes", "Pending", message);
    expect(await checksOf(admin)).toEqual([["more-nodes", "Pending"]]);
    await cluster.reserves("cq-a", { h100: 8 });
    looks.pending = await cluster.look();
    await answerCheck(admin, "more-nodes", "Ready", "");
    await cluster.comes("checked", "Admitted", "True");
    await startPods(admin, "cq-a", "checked", ["h100-1", "h100-1"]);
    looks.ready = await cluster.look();
  });

  it("Fairlead names the check and what it says, which is no missing member of a gang", () => {
    const document = seen(looks.pending);
    expect(document.pending.map(({ name, gpus }) => [name, gpus])).toEqual([["checked", 8]]);
    expect(document.pending[0]?.cause).not.toBe("gang");
    expect(document.pending[0]?.reason).toContain("more-nodes");
    expect(document.pending[0]?.reason).toContain(message);
    expectNoBlame(document);
  });

  it("Fairlead is silent once it is ready", () => {
    expect(seen(looks.ready).pending).toEqual([]);
  });
});

describe("partial admission", () => {
  const partial = job("partial", 1, { pods: 6, annotations: { "kueue.x-k8s.io/job-min-parallelism": "3" } });

  async function submitBeside(beside: number): Promise<void> {
    await cluster.setUp({
      flavors: { h100: product(h100) },
      nodes: [eightGpus("h100-1", h100)],
      queues: { "cq-a": { quotas: { h100: 8 } }, "cq-b": { quotas: { h100: 0 } } },
    });
    await cluster.run("cq-b", job("beside", beside), ["h100-1"]);
    await cluster.submitOnHold("cq-a", partial);
  }

  describe("where the smallest size fits", () => {
    const looks: { before?: Look; after?: Look } = {};

    it("Kueue admits the job at that size", async () => {
      await submitBeside(5);
      looks.before = await cluster.justBefore("cq-a");
      await cluster.comes("partial", "Admitted", "True");
      expect(await admittedPods(cluster.admin, "cq-a")).toEqual([3]);
      await startPods(cluster.admin, "cq-a", "partial", ["h100-1", "h100-1", "h100-1"]);
      looks.after = await cluster.look();
    });

    it("Fairlead has said before that this size is what waits, and that it fits", () => {
      const document = seen(looks.before);
      expect(document.pending.map(({ name, min }) => [name, min])).toEqual([["partial", 3]]);
      expect(amountOf(document, "cq-a", "pending")).toBe(3);
      // Nothing keeps it waiting but Kueue, which does nothing.
      expect(document.pending[0]?.cause).toBeOneOf(["scheduler", "unknown"]);
      expectNoBlame(document);
    });

    it("Fairlead says afterwards that nothing waits", () => {
      const document = seen(looks.after);
      expect(amountOf(document, "cq-a", "allocated")).toBe(3);
      expect(amountOf(document, "cq-a", "pending")).toBe(0);
      expect(document.pending).toEqual([]);
    });
  });

  describe("where not even the smallest size fits", () => {
    let look: Look | undefined;

    it("Kueue lets it wait", async () => {
      await submitBeside(6);
      await cluster.release("cq-a");
      await expectToWait("cq-a", "partial");
      expect(await admittedPods(cluster.admin, "cq-a")).toEqual([]);
      look = await cluster.look();
    });

    it("Fairlead says that the smallest size is what waits, and does not fit", () => {
      const document = seen(look);
      expect(amountOf(document, "cq-a", "pending")).toBe(3);
      expect(document.pending.map(({ name, cause }) => [name, cause])).toEqual([["partial", "quota"]]);
      expectNoBlame(document);
    });
  });
});

describe("a queue that reclaims from lower priorities", () => {
  const scenario = {
    flavors: { h100: product(h100) },
    nodes: [eightGpus("h100-1", h100)],
    queues: {
      "cq-own": { quotas: { h100: 8 }, reclaim: "LowerPriority" },
      "cq-b": { quotas: { h100: 0 } },
    },
  } as const;

  describe("where all work has one priority", () => {
    const looks: { lower?: Look; any?: Look } = {};

    it("Kueue preempts nobody, until the queue reclaims from any", async () => {
      await cluster.setUp(scenario);
      await cluster.run("cq-b", job("b-borrows", 8), ["h100-1"]);
      await cluster.submit("cq-own", job("own-waits", 8));
      await expectToWait("cq-own", "own-waits");
      looks.lower = await cluster.look();
      await reclaimFromAny("cq-own");
      looks.any = await cluster.justBefore("cq-own");
      await expectReclaimed("cq-b", "b-borrows");
    });

    it("Fairlead pairs nobody while it is so, and says that only Any reclaims here", () => {
      const document = seen(looks.lower);
      expectNoBlame(document);
      const said = saidOf(document, "cq-own");
      expect(said).toMatch(/reclaimWithinCohort.*\bAny\b/s);
      expect(said).not.toContain("or to LowerPriority");
      expect(settingsIn(document)).toEqual(["ClusterQueue cq-own"]);
    });

    it("Fairlead names the borrower where Kueue preempts it", () => {
      expectBlame(seen(looks.any), "cq-own < cq-b: 8", "Job cq-b/b-borrows");
    });
  });

  describe("where the waiting work has a higher priority", () => {
    let look: Look | undefined;

    it("Kueue preempts who borrows", async () => {
      await cluster.setUp(scenario);
      await cluster.run("cq-b", job("b-borrows", 8), ["h100-1"]);
      await cluster.submitOnHold("cq-own", job("own-waits", 8, { priorityClass: "urgent" }));
      look = await cluster.justBefore("cq-own");
      await expectReclaimed("cq-b", "b-borrows");
    });

    it("Fairlead names the borrower", () => {
      expectBlame(seen(look), "cq-own < cq-b: 8", "Job cq-b/b-borrows");
    });
  });
});
