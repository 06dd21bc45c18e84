import { describe, expect, it } from "vitest";
import type { DisruptionUnit } from "../../../exporter/advice/disruptionUnits.ts";
import { findPlan } from "../../../exporter/advice/planner/findPlan.ts";
import { type MoveField, moveFieldOf } from "../../../exporter/advice/planner/moveField.ts";
import type { PlanProblem } from "../../../exporter/advice/planner/problem.ts";
import { findFreeCapacities } from "../../../exporter/analysis/freeCapacity/freeCapacities.ts";
import type { Device, NodeView, PodView, Snapshot } from "../../../exporter/join/snapshot.ts";
import type { PodNeeds } from "../../../exporter/model/queues/podNeeds.ts";
import { device, holding, moment, nodeView, podView } from "../../analysis/momentBuilder.ts";
import { podNeeds } from "../../queues/kueueRows.ts";
import { unitOf } from "../kinds/moveMoment.ts";
import { faultsOf } from "./planBuilder.ts";

const physicalGpu = (node: string, i: number, parts: Partial<Device> = {}): Device =>
  device({ node, uuid: `${node}-${i}`, ...parts });

/** Nodes with their devices, in this order. */
function clusterOf(
  nodes: readonly (readonly Device[])[],
  pods: readonly PodView[],
  parts: readonly Partial<NodeView>[] = [],
): Snapshot {
  let first = 0;
  const views = nodes.map((own, i) => {
    const indexes = own.map((_, n) => first + n);
    first += own.length;
    return nodeView({ name: `n${i}`, devices: indexes, physicalGpus: own.length, ...parts[i] });
  });
  return moment({ nodes: views, devices: nodes.flat(), pods, requestsByNode: new Map() });
}

function fieldOf(
  snapshot: Snapshot,
  units: readonly DisruptionUnit[] = snapshot.pods.map((_, i) => unitOf([i])),
): MoveField {
  const freeCapacities = findFreeCapacities(snapshot).byNode.flat();
  return moveFieldOf(snapshot, freeCapacities, (pool) => pool === "H100", units);
}

const problemOf = (field: MoveField, gpus: number, needs: PodNeeds): PlanProblem => ({
  nodes: field.nodes,
  units: field.units,
  fixedNodes: field.fixedNodes,
  goal: { kind: "place", parts: [{ kind: field.kindOf(gpus, needs), pods: 1 }] },
  quotaGpus: Infinity,
  maxMoves: 5,
  vetoesOf: () => [],
});

function movesFor(field: MoveField, gpus: number, needs: PodNeeds) {
  const problem = problemOf(field, gpus, needs);
  const answer = findPlan(problem);
  expect(faultsOf(problem, answer)).toEqual([]);
  return answer.plan?.moves.map(({ pod, from, to }) => [pod, from, to]) ?? answer.noPlan?.code;
}

const whole = podNeeds({ "nvidia.com/gpu": 1 });

describe("the nodes and units among which pods may be moved", () => {
  it("have parts of GPUs, which come together on one GPU", () => {
    const half: PodNeeds = podNeeds({});
    const pods = [0, 1].map((i) => podView({ uid: `u${i}`, name: `p${i}`, node: `n${i}`, gpus: 0.5, needs: half }));
    const snapshot = clusterOf(
      [0, 1].map((i) => [physicalGpu(`n${i}`, 0, { holders: [holding({ pod: i, share: 0.5 })] })]),
      pods,
    );
    const field = fieldOf(snapshot);
    expect(field.nodes.map(({ free }) => free.physicalGpus)).toEqual([[0.5], [0.5]]);
    expect(movesFor(field, 1, whole)).toEqual([[0, 0, 1]]);
  });

  it("have replicas of shared GPUs, which only make room for others that ask for replicas", () => {
    const needs = podNeeds({ "nvidia.com/gpu.shared": 1 });
    const pods = [0, 1, 2].map((i) =>
      podView({ uid: `u${i}`, name: `p${i}`, node: i < 2 ? "n0" : "n1", gpus: 0.5, needs }),
    );
    const shared = { slots: 2 } as const;
    const snapshot = clusterOf(
      [
        [
          physicalGpu("n0", 0, { ...shared, holders: [holding({ pod: 0, share: 0.5 })] }),
          physicalGpu("n0", 1, { ...shared, holders: [holding({ pod: 1, share: 0.5 })] }),
        ],
        [physicalGpu("n1", 0, { ...shared, holders: [holding({ pod: 2, share: 0.5 })] })],
      ],
      pods,
    );
    const field = fieldOf(snapshot);
    expect(movesFor(field, 1.5, podNeeds({ "nvidia.com/gpu.shared": 3 }))).toEqual([[0, 0, 1]]);
    expect(movesFor(field, 1, whole)).toBe("fixed");
  });

  it("have MIG instances by their profile", () => {
    const needs = podNeeds({ "nvidia.com/mig-3g.40gb": 1 });
    const instance = (node: string, i: number, pod: number | null): Device =>
      physicalGpu(node, i, {
        gpuInstance: `${i}`,
        profile: "3g.40gb",
        weight: 3 / 7,
        holders: pod === null ? [] : [holding({ pod, share: 3 / 7 })],
      });
    const pods = [0, 1].map((i) => podView({ uid: `u${i}`, name: `p${i}`, node: `n${i}`, gpus: 3 / 7, needs }));
    const snapshot = clusterOf(
      [
        [instance("n0", 0, 0), instance("n0", 1, null)],
        [instance("n1", 0, 1), instance("n1", 1, null)],
      ],
      pods,
    );
    expect(movesFor(fieldOf(snapshot), 6 / 7, podNeeds({ "nvidia.com/mig-3g.40gb": 2 }))).toEqual([[0, 0, 1]]);
  });

  it("leave where they are: what asks for something unknown, reaches beyond, or is of no unit", () => {
    const pods = [
      podView({ uid: "u0", name: "unknown", node: "n0", needs: null }),
      podView({ uid: "u1", name: "elsewhere", node: "n9", needs: whole }),
      podView({ uid: "u2", name: "ours", node: "n1", needs: whole }),
      podView({ uid: "u3", name: "nobody's", node: "n2", needs: whole }),
    ];
    const allocated = (node: string, pod: number) => [physicalGpu(node, 0, { holders: [holding({ pod })] })];
    const snapshot = clusterOf([allocated("n0", 0), allocated("n1", 2), allocated("n2", 3)], pods);
    const field = fieldOf(snapshot, [unitOf([0]), unitOf([1, 2]), unitOf([2])]);
    expect(field.sources.map((unit) => unit.pods)).toEqual([[2]]);
    expect([...field.fixedNodes]).toEqual([0, 2]);
  });

  it("have nothing free on nodes that take nobody, or on GPUs that are broken", () => {
    const pods = [podView({ uid: "u0", name: "p", node: "n2", gpus: 1, needs: whole })];
    const nodes = [
      [physicalGpu("n0", 0), physicalGpu("n0", 1)],
      [physicalGpu("n1", 0, { unhealthy: true }), physicalGpu("n1", 1)],
      [physicalGpu("n2", 0, { holders: [holding({ pod: 0 })] }), physicalGpu("n2", 1)],
    ];
    const field = fieldOf(clusterOf(nodes, pods, [{ schedulable: false }]));
    expect(field.nodes.map(({ free }) => free.gpus)).toEqual([0, 1, 1]);
    expect(movesFor(field, 2, podNeeds({ "nvidia.com/gpu": 2 }))).toEqual([[0, 2, 1]]);
  });

  it("keep pods in the quota domain that they are in", () => {
    const pods = [podView({ uid: "u0", name: "p", node: "n0", gpus: 1, needs: whole })];
    const snapshot = clusterOf(
      [[physicalGpu("n0", 0, { holders: [holding({ pod: 0 })] }), physicalGpu("n0", 1)], [physicalGpu("n1", 0)]],
      pods,
      [{}, { pools: ["A100"] }],
    );
    const devices = snapshot.devices.map((one) => (one.node === "n1" ? { ...one, pool: "A100" } : one));
    const domains = ["H100", "A100"].map((pool) => ({
      name: pool,
      pools: [pool],
      capacity: 2,
      allocatedOnUnschedulable: 0,
      unknownBecause: null,
    }));
    const both = { ...snapshot, devices };
    const freeCapacities = (of: Snapshot) => findFreeCapacities(of).byNode.flat();
    const split: Snapshot = { ...both, queueing: { ...both.queueing, domains } };
    const asOne: Snapshot = {
      ...both,
      queueing: {
        ...both.queueing,
        domains: [
          {
            ...domains[0],
            name: "A100+H100",
            pools: ["A100", "H100"],
            capacity: 3,
            allocatedOnUnschedulable: 0,
            unknownBecause: null,
          },
        ],
      },
    };
    const moves = [split, asOne].map((of) => {
      const field = moveFieldOf(of, freeCapacities(of), () => true, [unitOf([0])]);
      return movesFor(field, 2, podNeeds({ "nvidia.com/gpu": 2 }));
    });
    expect(moves).toEqual(["nowhere-to-go", [[0, 0, 1]]]);
  });
});
