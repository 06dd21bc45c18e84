import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { kaiFinder } from "../../../exporter/join/queues/kaiFinder.ts";
import { type KaiInput, kaiSystem } from "../../../exporter/join/queues/kaiSystem.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { kaiGroup, kaiQueue, kaiShard } from "../../queues/groupRows.ts";
import { owner, pod } from "../clusterBuilder.ts";
import {
  anyParents,
  byName,
  declaredIn,
  domainOf,
  gangsOf,
  isWellFormed,
  parentsByName,
  physicalGpus,
  pool,
  scopePools,
  shuffled,
} from "./queueRows.ts";

const nodePoolLabel = "kai.scheduler/node-pool";
const h100 = physicalGpus("H100", 16);

function input(parts: Partial<KaiInput["objects"]>, others: Partial<KaiInput> = {}): KaiInput {
  const objects = { ...noQueueObjects, ...parts };
  return { objects, pools: [h100], priorityClasses: [], nodePoolLabel, pods: [], hasPods: false, ...others };
}

const queuesOf = (all: KaiInput) => declaredIn(kaiSystem(all), domainOf(all.pools, 16));

describe("amounts of a KAI queue", () => {
  it.each([
    ["-1 of everything", { quota: -1, overQuotaWeight: 1, limit: -1 }, [Infinity, Infinity, 1]],
    ["0 of everything", { quota: 0, overQuotaWeight: 0, limit: 0 }, [0, 0, 0]],
    ["fractions", { quota: 1.5, overQuotaWeight: 0.5, limit: 2.5 }, [1.5, 2.5, 0.5]],
    ["negative amounts that are not -1", { quota: -2, overQuotaWeight: -1, limit: -3 }, [0, 0, 0]],
    ["no resources, which KAI reads as all zero", null, [0, 0, 0]],
  ])("%s", (_, gpu, [guaranteed, limit, weight]) => {
    const queues = queuesOf(input({ kaiQueues: [kaiQueue("team", { gpu })] }));
    expect(queues).toMatchObject([{ guaranteed, limit, weight, zeroWeight: "never", isStrictOrder: false }]);
  });

  it("has its own priority, which only the surplus is shared by", () => {
    const queues = queuesOf(input({ kaiQueues: [kaiQueue("a", { priority: 200 }), kaiQueue("b")] }));
    expect(byName(queues, "priority")).toEqual({ a: 200, b: 100 });
  });
});

describe("the tree of KAI queues", () => {
  it("puts parents before children and lets leaves alone hold", () => {
    const queues = queuesOf(
      input({
        kaiQueues: [kaiQueue("a-team", { parent: "lab" }), kaiQueue("b-team", { parent: "lab" }), kaiQueue("lab")],
      }),
    );
    expect(parentsByName(queues)).toEqual({ lab: null, "a-team": "lab", "b-team": "lab" });
    expect(byName(queues, "isLeaf")).toEqual({ lab: false, "a-team": true, "b-team": true });
  });

  it("shows a parent that is nowhere by its name, and gives it nothing, as KAI drops all below", () => {
    const system = kaiSystem(
      input({
        kaiQueues: [kaiQueue("team", { parent: "gone", gpu: { quota: 4, overQuotaWeight: 2, limit: -1 } })],
        kaiPodGroups: [kaiGroup("g", "team")],
      }),
    );
    const queues = declaredIn(system, domainOf([h100], 16));
    expect(parentsByName(queues)).toEqual({ gone: null, team: "gone" });
    expect(byName(queues, "guaranteed")).toEqual({ gone: 0, team: 0 });
    expect(byName(queues, "weight")).toEqual({ gone: 0, team: 0 });
    expect(gangsOf(system)).toMatchObject([{ never: "no-queue" }]);
    expect(system.problems).toMatchObject([{ code: "kai-queue-without-parent", subject: "team" }]);
  });

  it("cuts a circle at its smallest name and says so once", () => {
    const system = kaiSystem(
      input({
        kaiQueues: [
          kaiQueue("c", { parent: "b" }),
          kaiQueue("b", { parent: "a" }),
          kaiQueue("a", { parent: "c" }),
          kaiQueue("below", { parent: "c" }),
        ],
        kaiPodGroups: [kaiGroup("g", "below")],
      }),
    );
    const queues = declaredIn(system, domainOf([h100], 16));
    expect(parentsByName(queues)).toEqual({ a: null, b: "a", c: "b", below: "c" });
    expect(byName(queues, "weight")).toMatchObject({ a: 0, b: 1 });
    expect(gangsOf(system)).toMatchObject([{ never: "no-queue" }]);
    expect(system.problems).toMatchObject([{ code: "kai-queue-cycle", subject: "a" }]);
  });

  it("is the same whatever the order of the objects, and never refers forwards", () => {
    const cases = anyParents.chain((named) => fc.tuple(fc.constant(named), shuffled(named)));
    fc.assert(
      fc.property(cases, ([named, other]) => {
        const first = queuesOf(input({ kaiQueues: named.map(({ name, parent }) => kaiQueue(name, { parent })) }));
        const second = queuesOf(input({ kaiQueues: other.map(({ name, parent }) => kaiQueue(name, { parent })) }));
        expect(second).toEqual(first);
        expect(isWellFormed(first)).toBe(true);
        for (const { name } of named) expect(first.map((queue) => queue.name)).toContain(name);
      }),
      { numRuns: 300, seed: 7 },
    );
  });
});

describe("shards", () => {
  const a = physicalGpus("A100", 8, { [nodePoolLabel]: "a" });
  const h = physicalGpus("H100", 8);
  const sharded = input(
    {
      kaiSchedulingShards: [kaiShard("default", null), kaiShard("a", "a")],
      kaiQueues: [
        kaiQueue("lab"),
        kaiQueue("team", { parent: "lab" }),
        kaiQueue("lab-a", { nodePool: "a" }),
        kaiQueue("team-a", { parent: "lab-a", nodePool: "a" }),
        kaiQueue("stray-a", { parent: "lab", nodePool: "a" }),
        kaiQueue("nobodys", { nodePool: "gone" }),
      ],
      kaiPodGroups: [
        kaiGroup("in-default", "team"),
        kaiGroup("in-a", "team-a", { nodePool: "a" }),
        kaiGroup("wrong-shard", "team", { nodePool: "a" }),
        kaiGroup("no-shard", "team", { nodePool: "gone" }),
      ],
    },
    { pools: [a, h] },
  );

  it("count over the pools of their nodes", () => {
    expect(scopePools(kaiSystem(sharded), [a, h])).toEqual([["H100"], ["A100"]]);
  });

  it("have the queues with their own label, as KAI's lister selects them", () => {
    const system = kaiSystem(sharded);
    expect(declaredIn(system, domainOf([h], 8)).map(({ name }) => name)).toEqual(["lab", "team"]);
    expect(parentsByName(declaredIn(system, domainOf([a], 8)))).toEqual({
      "lab-a": null,
      "team-a": "lab-a",
      "stray-a": null,
    });
  });

  it("give a queue nothing whose parent another shard has", () => {
    const queues = declaredIn(kaiSystem(sharded), domainOf([a], 8));
    expect(queues.find(({ name }) => name === "stray-a")).toMatchObject({ guaranteed: 0, weight: 0 });
  });

  it("refuse groups whose queue is not theirs", () => {
    const never = Object.fromEntries(gangsOf(kaiSystem(sharded)).map((gang) => [gang.name, gang.never]));
    expect(never).toEqual({ "in-default": null, "in-a": null, "wrong-shard": "no-queue", "no-shard": "no-queue" });
  });

  it("keep their indices where two share a pool", () => {
    const mixed = pool("H100", [...h.nodes, ...a.nodes]);
    const system = kaiSystem({ ...sharded, pools: [mixed] });
    expect(scopePools(system, [mixed])).toEqual([["H100"], ["H100"]]);
    const queues = declaredIn(system, domainOf([mixed], 16));
    expect(isWellFormed(queues)).toBe(true);
    expect(parentsByName(queues)).toMatchObject({ team: "lab", "team-a": "lab-a" });
  });

  it("are one over all nodes where there is no object of them", () => {
    const whole = { ...sharded, objects: { ...sharded.objects, kaiSchedulingShards: [] } };
    const system = kaiSystem(whole);
    expect(scopePools(system, [a, h])).toEqual([["A100", "H100"]]);
    expect(declaredIn(system, domainOf([a, h], 16))).toHaveLength(6);
  });
});

describe("whether KAI is in use", () => {
  it.each([
    ["nothing of it is there", input({}), false],
    ["there are only the queues of the installation", input({ kaiQueues: [kaiQueue("default-queue")] }), false],
    ["pods are in these", input({ kaiQueues: [kaiQueue("default-queue")] }, { hasPods: true }), true],
    ["a queue has no GPUs", input({ kaiQueues: [kaiQueue("cpu", { gpu: null })] }), false],
    ["a queue has GPUs", input({ kaiQueues: [kaiQueue("team")] }), true],
    ["a group asks for GPUs", input({ kaiPodGroups: [kaiGroup("g", "team")] }), true],
  ])("when %s", (_, all, isInUse) => {
    expect(kaiSystem(all).isInUse).toBe(isInUse);
  });
});

describe("the queue of a pod of KAI", () => {
  const objects = {
    kaiQueues: ["team", "other", "default-queue", "vision", "vision-a"].map((name) => kaiQueue(name)),
    kaiPodGroups: [kaiGroup("g", "team")],
  };
  const find = kaiFinder(objects, { nodePoolLabel });
  const job = (labels: Readonly<Record<string, string>>) => owner("Job", "train", null, { labels });
  const schedulerName = "kai-scheduler";
  const train = { apiVersion: "batch/v1", kind: "Job", name: "train", uid: "uid-train" };

  it.each([
    [
      "its PodGroup, before all labels",
      { schedulerName, annotations: { "pod-group-name": "g" }, labels: { "kai.scheduler/queue": "other" } },
      [],
      "team",
    ],
    [
      "the PodGroup that was made for its owner, whatever KAI is called",
      { schedulerName: "gpus", owner: train, annotations: { "pod-group-name": "g" } },
      [],
      "team",
    ],
    [
      "nothing, where another scheduler places it: its labels",
      { labels: { "kai.scheduler/queue": "team", "runai/queue": "team", project: "vision" } },
      [job({ "kai.scheduler/queue": "other" })],
      undefined,
    ],
    [
      "nothing, where another scheduler places it: a PodGroup made for other work",
      { annotations: { "pod-group-name": "g" } },
      [],
      undefined,
    ],
    [
      "the label of the top owner, before its own",
      { schedulerName, labels: { "kai.scheduler/queue": "team" } },
      [job({ "kai.scheduler/queue": "other" })],
      "other",
    ],
    ["its own label", { schedulerName, labels: { "kai.scheduler/queue": "team" } }, [job({})], "team"],
    ["the label of Run:ai", { schedulerName, labels: { "runai/queue": "team" } }, [], "team"],
    ["its project", { schedulerName, labels: { project: "vision" } }, [], "vision"],
    [
      "its project and node pool",
      { schedulerName, labels: { project: "vision", [nodePoolLabel]: "a" } },
      [],
      "vision-a",
    ],
    [
      "the default queue, where the project is none",
      { schedulerName, labels: { project: "apollo" } },
      [],
      "default-queue",
    ],
    ["the default queue of its scheduler", { schedulerName }, [], "default-queue"],
    ["nothing, where it has nothing to do with KAI", {}, [], undefined],
  ])("is by %s", (_, parts, owners, expected) => {
    expect(find(pod("p", null, parts), owners)?.name).toBe(expected);
  });

  it("is not looked for where KAI is not there", () => {
    const findNothing = kaiFinder(noQueueObjects, { nodePoolLabel });
    expect(findNothing(pod("p", null, { schedulerName, labels: { "kai.scheduler/queue": "team" } }), [])).toBeNull();
  });
});
