import { describe, expect, it } from "vitest";
import { type VolcanoInput, volcanoSystem } from "../../../exporter/join/queues/volcanoSystem.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { volcanoGroup, volcanoQueue } from "../../queues/groupRows.ts";
import { pod } from "../clusterBuilder.ts";
import { gangsOf, gpus, physicalGpus } from "./queueRows.ts";

function input(parts: Partial<VolcanoInput["objects"]>, others: Partial<VolcanoInput> = {}): VolcanoInput {
  const objects = { ...noQueueObjects, ...parts };
  return { objects, pools: [physicalGpus("A100", 16)], priorityClasses: [], pods: [], hasPods: false, ...others };
}

describe("PodGroups of Volcano", () => {
  const gangsFrom = (parts: Parameters<typeof volcanoGroup>[2], others: Partial<VolcanoInput> = {}) =>
    gangsOf(
      volcanoSystem(
        input(
          {
            volcanoQueues: [
              volcanoQueue("lab"),
              volcanoQueue("team", { parent: "lab" }),
              volcanoQueue("closed", { state: "Closed" }),
              volcanoQueue("closing", { state: "Closing" }),
              volcanoQueue("new", { state: null }),
            ],
            volcanoPodGroups: [volcanoGroup("g", "team", parts)],
          },
          others,
        ),
        "capacity",
        "equal",
      ),
    );

  it("become gangs that ask for minResources once", () => {
    expect(gangsFrom({ minMember: 0 })).toMatchObject([
      { kind: "PodGroup", members: 1, min: 1, total: gpus(2), since: 1000, startedAt: null, never: null, reason: "" },
    ]);
    expect(Object.keys(gangsFrom({})[0]?.total ?? {})).toEqual(["nvidia.com/gpu"]);
  });

  it.each([
    ["team", null],
    ["new", null],
    ["closed", "no-queue"],
    ["closing", "no-queue"],
    ["gone", "no-queue"],
    ["lab", "no-queue"],
  ])("in the queue %s: never %s", (queue, never) => {
    expect(gangsFrom({ queue })).toMatchObject([{ never }]);
  });

  it("that are completed, or without GPUs, are left out", () => {
    expect(gangsFrom({ phase: "Completed" })).toEqual([]);
    expect(gangsFrom({ minResources: { cpu: 4 } })).toEqual([]);
    expect(gangsFrom({ minResources: null })).toEqual([]);
  });

  it("whose Job names GPUs in limits only are reported by their pods", () => {
    const member = pod("p", null, { annotations: { "scheduling.k8s.io/group-name": "g" } });
    expect(gangsFrom({ minResources: { cpu: 4 } }, { pods: [member] })).toMatchObject([{ total: null }]);
    expect(gangsFrom({ minResources: { cpu: 4 } }, { pods: [{ ...member, phase: "Failed" }] })).toEqual([]);
  });

  it("have the priority of their class, else the default's, else 0", () => {
    const classes = [
      { name: "high", value: 1000, globalDefault: false },
      { name: "usual", value: 10, globalDefault: true },
    ];
    expect(gangsFrom({ priorityClass: "high" }, { priorityClasses: classes })).toMatchObject([{ priority: 1000 }]);
    expect(gangsFrom({}, { priorityClasses: classes })).toMatchObject([{ priority: 10 }]);
    expect(gangsFrom({})).toMatchObject([{ priority: 0 }]);
  });

  it("give the scheduler's reason while they wait", () => {
    const condition = {
      type: "Unschedulable",
      isTrue: true,
      reason: "NotEnoughResources",
      message: "",
      changedAt: null,
    };
    expect(gangsFrom({ phase: "Inqueue", conditions: [condition] })).toMatchObject([{ reason: "NotEnoughResources" }]);
    expect(gangsFrom({ phase: "Running", conditions: [condition] })).toMatchObject([{ reason: "" }]);
    expect(gangsFrom({ conditions: [{ ...condition, isTrue: false }] })).toMatchObject([{ reason: "" }]);
  });
});
