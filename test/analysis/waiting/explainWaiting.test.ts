import { describe, expect, it } from "vitest";
import { explainWaiting } from "../../../exporter/analysis/waiting/explainWaiting.ts";
import type { Queueing, WaitingGang } from "../../../exporter/join/queues/queueing.ts";
import { now } from "../../join/clusterBuilder.ts";
import { leaf, part, requests, type TestNode, waitingGang, waitingMoment } from "./waitingBuilder.ts";

const settings = { waitTargets: [] };
const free8: TestNode = { allocated: [0, 0, 0, 0, 0, 0, 0, 0] };
const full8: TestNode = { allocated: [1, 1, 1, 1, 1, 1, 1, 1] };
const half8: TestNode = { allocated: [1, 1, 1, 1, 0, 0, 0, 0] };

function causeOf(nodes: readonly TestNode[], gang: WaitingGang, queueing: Partial<Queueing> = {}): string | undefined {
  return explainWaiting(waitingMoment(nodes, [gang], queueing), settings).work[0]?.cause;
}

describe("a gang that can never run", () => {
  it.each([
    ["paused", "constraint"],
    ["no-node", "constraint"],
    ["no-queue", "constraint"],
    ["above-limit", "quota"],
  ] as const)("because it is %s waits for %s", (never, cause) => {
    expect(causeOf([free8], waitingGang([part(1, 1)], { never }))).toBe(cause);
    expect(causeOf([free8], waitingGang([part(1, null)], { never }))).toBe(cause);
  });

  it("because no node has so many GPUs waits for a constraint", () => {
    expect(causeOf([full8], waitingGang([part(1, 9)]))).toBe("constraint");
    expect(causeOf([full8], waitingGang([part(1, 8)]))).toBe("capacity");
  });

  it("because no node has its labels, or its taints keep it out, waits for a constraint", () => {
    const selected = part(1, 1, requests({ "nvidia.com/gpu": 1 }, { nodeSelector: { zone: "a" } }));
    expect(causeOf([free8], waitingGang([selected]))).toBe("constraint");
    expect(causeOf([{ ...full8, labels: { zone: "a" } }], waitingGang([selected]))).toBe("capacity");
    const tainted: TestNode = { ...free8, taints: [{ key: "team", value: "a", effect: "NoSchedule" }] };
    expect(causeOf([tainted], waitingGang([part(1, 1)]))).toBe("constraint");
  });

  it("is not one that only a state of nodes keeps out", () => {
    const notReady: TestNode = {
      ...free8,
      ready: false,
      taints: [{ key: "node.kubernetes.io/not-ready", value: "", effect: "NoExecute" }],
    };
    expect(causeOf([notReady], waitingGang([part(1, 1)]))).toBe("capacity");
    expect(causeOf([{ ...free8, schedulable: false }], waitingGang([part(1, 1)]))).toBe("capacity");
    expect(causeOf([{ ...free8, physicalGpu: { unhealthy: true } }], waitingGang([part(1, 1)]))).toBe("capacity");
  });

  it("because no node has so much CPU waits for a constraint", () => {
    const small: TestNode = { ...free8, allocatableCpuMilli: 4000 };
    const wants = (cpu: number) => waitingGang([part(1, 1, requests({ "nvidia.com/gpu": 1, cpu }))]);
    expect(causeOf([small], wants(5))).toBe("constraint");
    expect(causeOf([small], wants(4))).toBe("scheduler");
  });

  it("because no pool serves it, or Kueue finds no flavor, waits for a constraint", () => {
    expect(causeOf([free8], waitingGang([part(1, 1, { domain: null })]))).toBe("constraint");
    expect(causeOf([free8], waitingGang([part(1, 1)], { reason: "NoMatchingFlavor: no flavor" }))).toBe("constraint");
  });

  it("is not reported while a node's GPUs are unknown", () => {
    expect(causeOf([{ allocated: [], physicalGpus: null }], waitingGang([part(1, 1)]))).toBe("capacity");
  });
});

describe("quota", () => {
  const kueue = { scheduler: "kueue" } as const;

  it("is the cause where the limit of its queue leaves too little, until quota is reserved", () => {
    const queues = [leaf({ limit: 8, allocated: 4, gangs: [0] })];
    expect(causeOf([free8], waitingGang([part(1, 5)], kueue), { queues })).toBe("quota");
    expect(causeOf([free8], waitingGang([part(1, 4)], kueue), { queues })).toBe("scheduler");
    expect(causeOf([free8], waitingGang([part(1, 5)], { ...kueue, reservedAt: now - 400 }), { queues })).toBe(
      "scheduler",
    );
  });

  it("counts what is reserved and not yet bound", () => {
    const queues = [leaf({ limit: 8, allocated: 0, reserved: 6, gangs: [0] })];
    expect(causeOf([free8], waitingGang([part(1, 4)], kueue), { queues })).toBe("quota");
  });

  it("is looked for on the whole way to the root", () => {
    const root = leaf({ kind: "Cohort", name: "all", limit: 16, allocated: 14, isLeaf: false, children: [1] });
    const queues = [root, leaf({ parent: 0, limit: 12, gangs: [0] })];
    const asks = (gpus: number) => waitingGang([part(1, gpus, { queue: 1 })], kueue);
    expect(causeOf([free8], asks(3), { queues })).toBe("quota");
    expect(causeOf([free8], asks(2), { queues })).toBe("scheduler");
  });

  it("does not reach what a sibling lends to nobody", () => {
    const root = leaf({ kind: "Cohort", name: "all", limit: 16, isLeaf: false, children: [1, 2] });
    const sibling = leaf({ name: "b", parent: 0, guaranteed: 8, lendingLimit: 2 });
    const queues = [root, leaf({ parent: 0, guaranteed: 8, gangs: [0] }), sibling];
    const asks = (gpus: number) => waitingGang([part(gpus, 1, { queue: 1 })], kueue);
    expect(causeOf([free8, free8], asks(11), { queues })).toBe("quota");
    expect(causeOf([free8, free8], asks(10), { queues })).toBe("scheduler");
  });

  it.each([
    "WaitingForQuota: couldn't assign flavors to pod set main: insufficient unused quota",
    "Pending: couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor h100",
    "WaitingForPreemptedWorkloads",
    "NonPreemptibleOverQuota",
    "OverLimit",
  ])("is the cause that the scheduler names by %j", (reason) => {
    expect(causeOf([full8], waitingGang([part(1, 1)], { reason }))).toBe("quota");
  });

  it("is the cause behind another in a queue that serves strictly in order", () => {
    const ahead = waitingGang([part(2, 8)], { ...kueue, uid: "a" });
    const behind = waitingGang([part(1, 4)], { ...kueue, uid: "b" });
    const causes = (isStrictOrder: boolean) => {
      const queues = [leaf({ isStrictOrder, gangs: [0, 1] })];
      return explainWaiting(waitingMoment([free8], [ahead, behind], { queues }), settings).work.map((w) => w.cause);
    };
    expect(causes(true)).toEqual(["gang", "quota"]);
    expect(causes(false)).toEqual(["gang", "scheduler"]);
  });

  it("is not set for what no queue answers for", () => {
    const queues = [leaf({ kind: "Unqueued", limit: 0, gangs: [0] })];
    expect(causeOf([free8], waitingGang([part(1, 1)]), { queues })).toBe("scheduler");
  });
});

describe("a gang", () => {
  it("whose members are not created or gated waits for them", () => {
    expect(causeOf([free8], waitingGang([part(4, 1)], { notReadyPods: 2 }))).toBe("gang");
    expect(causeOf([free8], waitingGang([part(2, 1)], { bound: 2, min: 4, notReadyPods: 2 }))).toBe("gang");
    expect(causeOf([free8], waitingGang([part(4, 1)], { reason: "NotEnoughTasks" }))).toBe("gang");
  });

  it("that is complete without them does not", () => {
    expect(causeOf([free8], waitingGang([part(4, 1)], { min: 2, notReadyPods: 2 }))).toBe("scheduler");
  });

  it("that Kueue itself holds back waits for Kueue", () => {
    const gang = waitingGang([part(4, 1)], { scheduler: "kueue", notReadyPods: 4 });
    expect(causeOf([full8], gang)).toBe("capacity");
    expect(causeOf([full8], { ...gang, reservedAt: now - 400 })).toBe("gang");
  });
});

describe("a gang for which too little is free", () => {
  const three: TestNode = { allocated: [1, 1, 1, 1, 1, 0, 0, 0] };
  const found = (nodes: readonly TestNode[], gang: WaitingGang) =>
    explainWaiting(waitingMoment(nodes, [gang]), settings).work[0];

  it.each(["none", "kueue", "kai", "volcano"] as const)("waits as a gang while some have room, in %s", (scheduler) => {
    const four = waitingGang([part(4, 1)], { scheduler });
    expect(found([three], four)).toMatchObject({ cause: "gang", hasRoomForSome: true });
    expect(found([full8], four)).toMatchObject({ cause: "capacity" });
    expect(found([full8], four)).not.toHaveProperty("hasRoomForSome");
    expect(found([half8], four)?.cause).toBe("scheduler");
  });

  it("waits as a gang while some are bound, and not once its minimum is", () => {
    const rest = (bound: number) => waitingGang([part(1, 1)], { bound, min: 4 });
    expect(causeOf([full8], rest(3))).toBe("gang");
    expect(causeOf([full8], rest(4))).toBe("capacity");
  });

  it("waits for capacity if its members run alone", () => {
    const admitted = { scheduler: "kueue", reservedAt: now - 400 } as const;
    expect(causeOf([three], waitingGang([part(4, 1)], { ...admitted, membersRunAlone: true }))).toBe("capacity");
    expect(causeOf([three], waitingGang([part(4, 1)], { min: 1, bound: 0 }))).toBe("scheduler");
    expect(causeOf([full8], waitingGang([part(4, 1)], { min: 1 }))).toBe("capacity");
    expect(causeOf([three], waitingGang([part(4, 1)], admitted))).toBe("gang");
  });

  it("waits for capacity if one pod alone is too large, and for fragmentation if enough is free in all", () => {
    expect(causeOf([three], waitingGang([part(1, 4)]))).toBe("capacity");
    expect(causeOf([three], waitingGang([part(2, 4)]))).toBe("capacity");
    expect(causeOf([three, three], waitingGang([part(3, 2)]))).toBe("fragmentation");
    expect(causeOf([three, three], waitingGang([part(4, 2)]))).toBe("gang");
  });

  it("waits as a gang for members that are not there, whatever is free", () => {
    const gated = waitingGang([part(4, 1)], { notReadyPods: 2 });
    expect(found([full8], gated)).toMatchObject({ cause: "gang" });
    expect(found([full8], gated)).not.toHaveProperty("hasRoomForSome");
  });
});

describe("capacity and fragmentation", () => {
  it("differ by what is free in all", () => {
    expect(causeOf([half8, full8], waitingGang([part(1, 8)]))).toBe("capacity");
    expect(causeOf([half8, half8], waitingGang([part(1, 8)]))).toBe("fragmentation");
    expect(causeOf([half8, half8], waitingGang([part(2, 4)]))).toBe("scheduler");
  });

  it("count only nodes that take the pods now", () => {
    const zone = (name: string): TestNode => ({ ...free8, labels: { zone: name } });
    const gang = waitingGang([part(2, 8, requests({ "nvidia.com/gpu": 8 }, { nodeSelector: { zone: "a" } }))]);
    expect(causeOf([zone("a"), zone("b")], gang)).toBe("gang");
    expect(causeOf([zone("a"), zone("a")], gang)).toBe("scheduler");
  });

  it("read required affinity: alternatives, each of which must match wholly", () => {
    const affinity = [
      [{ key: "zone", operator: "In", values: ["a"] }],
      [
        { key: "zone", operator: "Exists", values: [] },
        { key: "rack", operator: "Gt", values: ["4"] },
      ],
    ];
    const gang = waitingGang([part(1, 8, requests({ "nvidia.com/gpu": 8 }, { nodeAffinity: affinity }))]);
    expect(causeOf([{ ...free8, labels: { zone: "a" } }], gang)).toBe("scheduler");
    expect(causeOf([{ ...free8, labels: { zone: "b", rack: "5" } }], gang)).toBe("scheduler");
    expect(causeOf([{ ...free8, labels: { zone: "b", rack: "4" } }], gang)).toBe("constraint");
  });

  it("count free CPU where it is known", () => {
    const gang = waitingGang([part(2, 1, requests({ "nvidia.com/gpu": 1, cpu: 8 }))]);
    const busy: TestNode = { ...half8, allocatableCpuMilli: 64_000, cpuMilliUsed: 50_000 };
    expect(causeOf([busy], gang)).toBe("fragmentation");
    expect(causeOf([busy, busy], gang)).toBe("scheduler");
  });

  it("keep free GPUs apart from free parts of GPUs", () => {
    const shared: TestNode = { allocated: [0.5, 0.5] };
    const fraction = (gpus: number) => waitingGang([part(1, gpus, requests({}))]);
    expect(causeOf([shared], waitingGang([part(1, 1)]))).toBe("fragmentation");
    expect(causeOf([shared], fraction(0.5))).toBe("scheduler");
    expect(causeOf([shared], fraction(0.7))).toBe("fragmentation");
  });

  it("count free MIG instances by profile, and replicas of shared GPUs by their size", () => {
    const mig = { gpuInstance: "7", profile: "1g.10gb", weight: 1 / 7 };
    const instances = (n: number) => waitingGang([part(1, n / 7, requests({ "nvidia.com/mig-1g.10gb": n }))]);
    expect(causeOf([{ allocated: [1 / 7, 0, 0], physicalGpu: mig }], instances(2))).toBe("scheduler");
    expect(
      causeOf(
        [
          { allocated: [1 / 7, 1 / 7, 0], physicalGpu: mig },
          { allocated: [0], physicalGpu: mig },
        ],
        instances(2),
      ),
    ).toBe("fragmentation");
    const replicas: TestNode = { allocated: [0.75], physicalGpu: { slots: 4 } };
    expect(causeOf([replicas], waitingGang([part(1, 0.25, requests({ "nvidia.com/gpu": 1 }))]))).toBe("scheduler");
    expect(causeOf([replicas, replicas], waitingGang([part(1, 0.5, requests({ "nvidia.com/gpu": 2 }))]))).toBe(
      "fragmentation",
    );
  });

  it("ask only for the members that a gang needs to begin", () => {
    expect(causeOf([half8], waitingGang([part(8, 1)], { min: 4 }))).toBe("scheduler");
    expect(causeOf([half8], waitingGang([part(8, 1)], { min: 5 }))).toBe("gang");
  });

  it("place pods of several kinds together", () => {
    const kinds = (cpu: number) => [
      part(1, 2, requests({ "nvidia.com/gpu": 2, cpu })),
      part(1, 2, requests({ "nvidia.com/gpu": 2, cpu: 1 })),
    ];
    const node: TestNode = { ...half8, allocatableCpuMilli: 8000 };
    expect(causeOf([node], waitingGang(kinds(7)))).toBe("scheduler");
    expect(causeOf([node], waitingGang(kinds(8)))).toBe("fragmentation");
  });

  it("believe the queue system that its topology has no place", () => {
    expect(causeOf([free8], waitingGang([part(1, 1)], { reason: "TopologyPlacementFailed" }))).toBe("topology");
    expect(causeOf([full8], waitingGang([part(1, 1)], { reason: "TopologyPlacementFailed" }))).toBe("capacity");
  });

  it("take pods that may be on any GPU of a node for as few GPUs as can be", () => {
    const spread = waitingMoment([{ allocated: [0.5, 0.5] }], [waitingGang([part(1, 1)])]);
    const devices = spread.devices.map((physicalGpu) => ({
      ...physicalGpu,
      holders: physicalGpu.holders.map((holder) => ({ ...holder, estimated: true })),
    }));
    expect(explainWaiting({ ...spread, devices }, settings).work[0]?.cause).toBe("scheduler");
  });
});

describe("work that fits and is allowed", () => {
  it("waits for the scheduler after 5 minutes", () => {
    expect(causeOf([free8], waitingGang([part(1, 1)], { since: now - 300 }))).toBe("unknown");
    expect(causeOf([free8], waitingGang([part(1, 1)], { since: now - 301 }))).toBe("scheduler");
    expect(causeOf([free8], waitingGang([part(1, 1)], { since: null }))).toBe("unknown");
  });

  it("waits for the scheduler only since its quota was reserved", () => {
    const reserved = (seconds: number) => waitingGang([part(1, 1)], { since: now - 9000, reservedAt: now - seconds });
    expect(causeOf([free8], reserved(300))).toBe("unknown");
    expect(causeOf([free8], reserved(301))).toBe("scheduler");
  });
});

describe("work for which nodes are being made", () => {
  const admitted = { scheduler: "kueue" as const, reservedAt: now - 400, notReadyPods: 4 };
  const controller = "kueue.x-k8s.io/provisioning-request";
  const checks = [{ name: "nodes-first", state: "Pending" as const, message: "no node yet", controller }];

  it("waits for the check that has them made, also where none of its kind is there yet, and is neither stuck nor incomplete", () => {
    const selected = part(4, 1, requests({ "nvidia.com/gpu": 1 }, { nodeSelector: { pool: "to-come" } }));
    for (const [node, of] of [
      [free8, part(4, 1)],
      [full8, part(4, 1)],
      [free8, selected],
    ] as const)
      expect(causeOf([node], waitingGang([of], { ...admitted, checks, awaitsNodes: true }))).toBe("admission_check");
  });

  it("that it does not wait for is as other work", () => {
    expect(causeOf([free8], waitingGang([part(4, 1)], { ...admitted, notReadyPods: 0 }))).toBe("scheduler");
    expect(causeOf([free8], waitingGang([part(4, 1)], { never: "paused" }))).toBe("constraint");
  });
});

describe("work of unknown size", () => {
  it("waits for nobody knows what", () => {
    expect(causeOf([full8], waitingGang([part(1, null)]))).toBe("unknown");
  });
});
