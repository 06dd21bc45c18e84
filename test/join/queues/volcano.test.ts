import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { volcanoFinder } from "../../../exporter/join/queues/volcanoFinder.ts";
import { type VolcanoInput, volcanoSystem } from "../../../exporter/join/queues/volcanoSystem.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import type { VolcanoQueue } from "../../../exporter/model/queues/volcano.ts";
import { volcanoGroup, volcanoQueue } from "../../queues/groupRows.ts";
import { node, owner, pod } from "../clusterBuilder.ts";
import {
  anyParents,
  byName,
  declaredIn,
  domainOf,
  gpus,
  isWellFormed,
  parentsByName,
  physicalGpus,
  pool,
  scopePools,
  shuffled,
} from "./queueRows.ts";

const mig = "nvidia.com/mig-1g.10gb";
const pools = [physicalGpus("A100", 16), physicalGpus("H100", 8)];

function input(parts: Partial<VolcanoInput["objects"]>, others: Partial<VolcanoInput> = {}): VolcanoInput {
  const objects = { ...noQueueObjects, ...parts };
  return { objects, pools, priorityClasses: [], pods: [], hasPods: false, ...others };
}

function queuesOf(
  volcanoQueues: readonly VolcanoQueue[],
  plugin: "proportion" | "capacity",
  others: Partial<VolcanoInput> = {},
  surplus: "equal" | "weight" = "equal",
) {
  const all = input({ volcanoQueues }, others);
  return declaredIn(volcanoSystem(all, plugin, surplus), domainOf(all.pools, 24));
}

describe("amounts of a Volcano queue without a hierarchy", () => {
  const vision = volcanoQueue("vision", { guarantee: gpus(4), deserved: gpus(10), capability: gpus(12), weight: 3 });
  const batch = volcanoQueue("batch", { guarantee: gpus(2) });

  it("proportion: sure of the guarantee, at most realCapability, shared by weight", () => {
    const queues = queuesOf([vision, batch], "proportion");
    expect(byName(queues, "guaranteed")).toEqual({ batch: 2, vision: 4 });
    // 24 - (4 + 2) + 2, and the capability, which is less than 24 - (4 + 2) + 4.
    expect(byName(queues, "limit")).toEqual({ batch: 20, vision: 12 });
    expect(byName(queues, "weight")).toEqual({ batch: 1, vision: 3 });
  });

  it("capacity: sure of what it deserves", () => {
    const queues = queuesOf([vision, batch], "capacity");
    expect(byName(queues, "guaranteed")).toEqual({ batch: 2, vision: 10 });
    expect(byName(queues, "limit")).toEqual({ batch: 20, vision: 12 });
    expect(byName(queues, "weight")).toEqual({ batch: 1, vision: 1 });
  });

  it("capacity: shares by weight where that is set", () => {
    expect(byName(queuesOf([vision], "capacity", {}, "weight"), "weight")).toEqual({ vision: 3 });
  });

  it("capacity: deserves at most what it may hold, and at least its guarantee", () => {
    const greedy = volcanoQueue("greedy", { deserved: gpus(20), capability: gpus(6) });
    const sure = volcanoQueue("sure", { deserved: gpus(1), guarantee: gpus(3) });
    expect(byName(queuesOf([greedy, sure], "capacity"), "guaranteed")).toEqual({ greedy: 6, sure: 3 });
  });

  it("is capped by nobody's guarantee but by its own capability of zero", () => {
    const queues = queuesOf([volcanoQueue("none", { capability: gpus(0) })], "proportion");
    expect(byName(queues, "limit")).toEqual({ none: 0 });
  });

  it("has a limit of 0 where the guarantees of others are more than there is", () => {
    const queues = queuesOf(
      [volcanoQueue("a", { guarantee: gpus(20) }), volcanoQueue("b", { guarantee: gpus(10) }), volcanoQueue("c")],
      "proportion",
    );
    expect(byName(queues, "limit")).toEqual({ a: 20, b: 10, c: 0 });
  });

  it("knows no parents under proportion, and no queue root", () => {
    const queues = queuesOf(
      [volcanoQueue("root"), volcanoQueue("a", { parent: "root" }), volcanoQueue("b", { parent: "a" })],
      "proportion",
    );
    expect(parentsByName(queues)).toEqual({ a: null, b: null });
  });
});

describe("a hierarchy of Volcano queues", () => {
  const tree = [
    volcanoQueue("root"),
    volcanoQueue("research", { parent: "root", guarantee: gpus(4), deserved: gpus(8), capability: gpus(12) }),
    volcanoQueue("vision", { parent: "research", guarantee: gpus(3), deserved: gpus(10) }),
    volcanoQueue("language", { parent: "research", deserved: gpus(6) }),
    volcanoQueue("product", { parent: "root" }),
  ];

  it("is below root, which is no record", () => {
    const queues = queuesOf(tree, "capacity");
    expect(parentsByName(queues)).toEqual({ research: null, product: null, vision: "research", language: "research" });
    expect(byName(queues, "isLeaf")).toEqual({ research: false, product: true, vision: true, language: true });
  });

  it("keeps the siblings' guarantees away from each child, and has no bound but capabilities", () => {
    expect(byName(queuesOf(tree, "capacity"), "limit")).toEqual({
      research: 12,
      product: Infinity,
      vision: 12,
      language: 9,
    });
  });

  it("is as large as the capability of root, where it has one", () => {
    const bounded = tree.map((queue) => (queue.name === "root" ? { ...queue, capability: gpus(10) } : queue));
    expect(byName(queuesOf(bounded, "capacity"), "limit")).toMatchObject({ research: 10, product: 6 });
  });

  it("makes a parent sure of what its children are sure of", () => {
    expect(byName(queuesOf(tree, "capacity"), "guaranteed")).toEqual({
      research: 16,
      product: 0,
      vision: 10,
      language: 6,
    });
  });

  it.each([
    ["a parent that is not there", [volcanoQueue("team", { parent: "gone" })], "volcano-queue-without-parent", "team"],
    ["a circle", [volcanoQueue("b", { parent: "a" }), volcanoQueue("a", { parent: "b" })], "volcano-queue-cycle", "a"],
  ])("says that %s stops the plugin", (_, volcanoQueues, code, subject) => {
    expect(volcanoSystem(input({ volcanoQueues }), "capacity", "equal").problems).toMatchObject([{ code, subject }]);
    expect(volcanoSystem(input({ volcanoQueues }), "proportion", "equal").problems).toEqual([]);
  });

  it("is the same whatever the order of the objects, and never refers forwards", () => {
    const amount = fc.option(fc.integer({ min: 0, max: 30 }).map(gpus));
    const amounts = fc.array(fc.record({ guarantee: amount, deserved: amount, capability: amount }), {
      minLength: 8,
      maxLength: 8,
    });
    const cases = fc.tuple(anyParents, amounts).chain(([named, all]) => {
      const queues = named.map(({ name, parent }, at) => volcanoQueue(name, { parent, ...all[at] }));
      return fc.tuple(
        fc.constant(queues),
        shuffled(queues),
        fc.constantFrom("capacity" as const, "proportion" as const),
      );
    });
    fc.assert(
      fc.property(cases, ([queues, others, plugin]) => {
        const first = queuesOf(queues, plugin);
        expect(queuesOf(others, plugin)).toEqual(first);
        expect(isWellFormed(first)).toBe(true);
        for (const { guaranteed, limit } of first) {
          expect(guaranteed).toBeGreaterThanOrEqual(0);
          expect(limit).toBeGreaterThanOrEqual(0);
        }
        // A parent is sure of at least what its children are sure of together.
        for (const [at, { guaranteed }] of first.entries()) {
          const below = first
            .filter(({ parent }) => parent === at)
            .reduce((sum, one) => sum + (one.guaranteed ?? 0), 0);
          expect(guaranteed).toBeGreaterThanOrEqual(below);
        }
      }),
      { numRuns: 300, seed: 11 },
    );
  });
});

describe("units of Volcano's amounts", () => {
  const cut = pool("A100-mig", [node("cut", { capacity: { [mig]: 14 } })], { [mig]: 1 / 7 });

  it("are converted, and added up over GPU resources", () => {
    const queue = volcanoQueue("team", { guarantee: { "nvidia.com/gpu": 2, [mig]: 7, cpu: 64, "rdma/hca": 8 } });
    expect(byName(queuesOf([queue], "proportion", { pools: [...pools, cut] }), "guaranteed")).toEqual({ team: 3 });
  });

  it("leave to a capability all of what it does not name", () => {
    const queue = volcanoQueue("team", { capability: { "nvidia.com/gpu": 4 } });
    expect(byName(queuesOf([queue], "proportion", { pools: [...pools, cut] }), "limit")).toEqual({ team: 6 });
  });

  it("do not cap GPUs where no GPU resource is named", () => {
    const queue = volcanoQueue("team", { capability: { cpu: 64 } });
    expect(byName(queuesOf([queue], "proportion"), "limit")).toEqual({ team: 24 });
  });

  it.each([
    ["pools that disagree", [...pools, pool("shared", [], { "nvidia.com/gpu": 0.25 })]],
    ["a pool whose nodes disagree", [...pools, pool("mixed", [], { "nvidia.com/gpu": null })]],
  ])("are unknown with %s, but zero is zero", (_, others) => {
    const queues = queuesOf(
      [volcanoQueue("team", { guarantee: gpus(4), capability: gpus(8) }), volcanoQueue("none", { guarantee: gpus(0) })],
      "proportion",
      { pools: others },
    );
    expect(byName(queues, "guaranteed")).toEqual({ team: null, none: 0 });
    // Nobody knows what the guarantee of the other leaves.
    expect(byName(queues, "limit")).toEqual({ team: null, none: null });
  });
});

describe("whether Volcano is in use", () => {
  const own = [volcanoQueue("root"), volcanoQueue("default")];
  it.each([
    ["there are only the queues of the installation", input({ volcanoQueues: own }), false],
    ["pods are in these", input({ volcanoQueues: own }, { hasPods: true }), true],
    ["there is another queue", input({ volcanoQueues: [...own, volcanoQueue("team")] }), true],
    ["a group asks for GPUs", input({ volcanoPodGroups: [volcanoGroup("g", "default")] }), true],
  ])("when %s", (_, all, isInUse) => {
    const system = volcanoSystem(all, "proportion", "equal");
    expect(system.isInUse).toBe(isInUse);
    expect(scopePools(system, pools)).toEqual([["A100", "H100"]]);
  });
});

describe("the queue of a pod of Volcano", () => {
  const schedulerName = "volcano";
  const train = { apiVersion: "batch/v1", kind: "Job", name: "train", uid: "uid-train" };
  const find = volcanoFinder({
    volcanoQueues: [volcanoQueue("team")],
    volcanoPodGroups: [volcanoGroup("g", "team")],
  });
  const label = { "volcano.sh/queue-name": "other" };

  it.each([
    [
      "its PodGroup, before labels",
      { schedulerName, annotations: { "scheduling.k8s.io/group-name": "g" }, labels: label },
      [],
      "team",
    ],
    [
      "its PodGroup by the other annotation",
      { schedulerName, annotations: { "scheduling.volcano.sh/group-name": "g" } },
      [],
      "team",
    ],
    [
      "the PodGroup that was made for its owner, whatever Volcano is called",
      { schedulerName: "batch", owner: train, annotations: { "scheduling.k8s.io/group-name": "g" }, labels: label },
      [],
      "team",
    ],
    ["its label", { schedulerName, labels: label }, [], "other"],
    ["its annotation", { schedulerName, annotations: { "scheduling.volcano.sh/queue-name": "other" } }, [], "other"],
    ["nothing, where another scheduler places it: its label", { labels: label }, [], undefined],
    [
      "nothing, where another scheduler places it: a PodGroup made for other work",
      { annotations: { "scheduling.k8s.io/group-name": "g" } },
      [],
      undefined,
    ],
    ["the label of an owner", { schedulerName }, [owner("RayCluster", "ray", null, { labels: label })], "other"],
    ["the default queue of its scheduler", { schedulerName }, [], "default"],
    ["nothing, where it has nothing to do with Volcano", {}, [], undefined],
    [
      "nothing, where its group is not Volcano's",
      { annotations: { "scheduling.k8s.io/group-name": "x" } },
      [],
      undefined,
    ],
  ])("is by %s", (_, parts, owners, expected) => {
    expect(find(pod("p", null, parts), owners)?.name).toBe(expected);
  });

  it("is not looked for where Volcano is not there", () => {
    expect(volcanoFinder(noQueueObjects)(pod("p", null, { schedulerName, labels: label }), [])).toBeNull();
  });
});
