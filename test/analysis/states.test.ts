import { describe, expect, it } from "vitest";
import type { Device, Holding, NodeView, PodView } from "../../exporter/join/snapshot.ts";
import { now } from "../join/clusterBuilder.ts";
import { statesOf } from "../join/outcomes.ts";
import { device, gang, holding, moment, nodeView, podView } from "./momentBuilder.ts";

interface Case {
  readonly pod?: Partial<PodView>;
  readonly allocated?: Partial<Holding>;
  readonly on?: Partial<Device>;
  readonly node?: Partial<NodeView>;
}

/** States of one GPU that one pod holds. */
const allocated = ({ pod, allocated, on, node }: Case) =>
  statesOf(
    moment({
      nodes: [nodeView(node)],
      devices: [device({ holders: [holding(allocated)], ...on })],
      pods: [podView(pod)],
    }),
  );

/** States of one GPU that nobody holds. */
const unallocated = ({ on, node }: Case) =>
  statesOf(moment({ nodes: [nodeView(node)], devices: [device(on)], pods: [] }));

const used = { active: 0.5, underutilized: 0.5 };
const idleFor = (seconds: number): Partial<Holding> => ({ activity: 0.02, idleSince: now - seconds });
const spins: Partial<Holding> = { activity: 1 };
const unseenHolding: Partial<Holding> = { activity: null };
const stalledFor = (seconds: number, unseenSince: number | null = null): Partial<Device> => ({
  stall: { since: now - seconds, unseenSince },
});
const unseen = { activity: null, idleNow: null } as const;
const barelyUsed = { active: 0.02, underutilized: 0.98 };

describe("allocated GPUs: first match wins", () => {
  const rows: readonly (readonly [rule: string, given: Case, states: object])[] = [
    ["active and underutilized split the share", {}, used],
    ["node not Ready, 299 s", { node: { ready: false, notReadySince: now - 299 } }, used],
    ["node not Ready, 300 s", { node: { ready: false, notReadySince: now - 300 } }, { unavailable: 1 }],
    ["node not Ready, 301 s", { node: { ready: false, notReadySince: now - 301 } }, { unavailable: 1 }],
    ["device unhealthy", { on: { unhealthy: true } }, { unavailable: 1 }],
    ["unavailable before gang_wait", { on: { unhealthy: true }, pod: { gang: gang(now - 9000) } }, { unavailable: 1 }],
    ["partial gang, 299 s", { pod: { gang: gang(now - 299) }, allocated: idleFor(400) }, barelyUsed],
    ["partial gang, 300 s", { pod: { gang: gang(now - 300) }, allocated: idleFor(400) }, barelyUsed],
    ["partial gang, 301 s", { pod: { gang: gang(now - 301) }, allocated: idleFor(400) }, { gang_wait: 1 }],
    ["partial gang that works all the same", { pod: { gang: gang(now - 301) } }, used],
    ["partial gang that nobody sees", { pod: { gang: gang(now - 301) }, on: unseen }, { gang_wait: 1 }],
    ["whole gang", { pod: { gang: gang(null) } }, used],
    [
      "gang_wait before starting",
      { pod: { gang: gang(now - 301), starting: true, boundAt: now - 400 }, allocated: idleFor(400) },
      { gang_wait: 1 },
    ],
    ["starting, 899 s", { pod: { starting: true, boundAt: now - 899 } }, { starting: 1 }],
    ["starting, 900 s", { pod: { starting: true, boundAt: now - 900 } }, { starting: 1 }],
    ["starting, 901 s", { pod: { starting: true, boundAt: now - 901 } }, used],
    [
      "starting before unobserved",
      { pod: { starting: true, boundAt: now - 10 }, allocated: { activity: null } },
      { starting: 1 },
    ],
    ["no fresh activity", { allocated: { activity: null } }, { unobserved: 1 }],
    [
      "unobserved, never idle, whatever was before",
      { allocated: { activity: null, idleSince: now - 9000 } },
      { unobserved: 1 },
    ],
    ["idle, batch, 1799 s", { allocated: idleFor(1799) }, barelyUsed],
    ["idle, batch, 1800 s", { allocated: idleFor(1800) }, { idle: 1 }],
    ["idle, batch, 1801 s", { allocated: idleFor(1801) }, { idle: 1 }],
    ["idle, serving, 86399 s", { allocated: idleFor(86_399), pod: { workloadClass: "serving" } }, barelyUsed],
    ["idle, serving, 86400 s", { allocated: idleFor(86_400), pod: { workloadClass: "serving" } }, { idle: 1 }],
    ["idle but opted out", { allocated: idleFor(9000), pod: { idleOptOut: true } }, barelyUsed],
    [
      "idle device, pod bound 1799 s ago: the rest was before it",
      { allocated: idleFor(9000), pod: { boundAt: now - 1799 } },
      barelyUsed,
    ],
    ["idle device, pod bound 1800 s ago", { allocated: idleFor(9000), pod: { boundAt: now - 1800 } }, { idle: 1 }],
    [
      "a pod without times has no age",
      { allocated: idleFor(9000), pod: { boundAt: null, createdAt: null } },
      barelyUsed,
    ],
    ["a pod bound in the future", { allocated: idleFor(9000), pod: { boundAt: now + 60 } }, barelyUsed],
    ["stalled, 899 s", { on: stalledFor(899), allocated: spins }, { active: 1 }],
    ["stalled, 900 s", { on: stalledFor(900), allocated: spins }, { stalled: 1 }],
    ["stalled, and its page lost for a moment", { on: stalledFor(900, now - 60), allocated: spins }, { stalled: 1 }],
    [
      "stalled, and nobody sees it now",
      { on: stalledFor(900, now - 120), allocated: unseenHolding },
      { unobserved: 1 },
    ],
    [
      "unavailable before stalled",
      { on: { ...stalledFor(900), unhealthy: true }, allocated: spins },
      { unavailable: 1 },
    ],
    [
      "what the GPU did before this pod had it",
      { on: stalledFor(9000), allocated: spins, pod: { boundAt: now - 899 } },
      { active: 1 },
    ],
    [
      "stalled although it may be idle",
      { on: stalledFor(900), allocated: spins, pod: { idleOptOut: true } },
      { stalled: 1 },
    ],
    [
      "a part of a stalled GPU",
      { on: stalledFor(900), allocated: { ...spins, share: 0.5 } },
      { active: 0.5, free: 0.5 },
    ],
    [
      "a stalled GPU that may be another pod's",
      { on: stalledFor(900), allocated: { ...spins, estimated: true } },
      { active: 1 },
    ],
    ["an instance of a stalled GPU", { on: { ...stalledFor(900), gpuInstance: "7" }, allocated: spins }, { active: 1 }],
    [
      "a stalled GPU with two holders",
      { on: { ...stalledFor(900), holders: [holding({ ...spins, share: 0.5 }), holding({ ...spins, share: 0.5 })] } },
      { active: 1 },
    ],
    ["a cordoned node changes nothing of what is allocated", { node: { schedulable: false } }, used],
    ["fully active: nothing underutilized", { allocated: { activity: 1 } }, { active: 1 }],
    ["fully inactive: nothing active", { allocated: { activity: 0 } }, { underutilized: 1 }],
  ];
  it.each(rows)("%s", (_rule, given, states) => {
    expect(allocated(given)).toEqual(states);
  });

  it("a pod must be older than 5 min to be idle", () => {
    const age = (seconds: number) =>
      allocated({ allocated: idleFor(9000), pod: { createdAt: now - seconds, boundAt: now - 1800 } });
    expect(age(299)).toEqual(barelyUsed);
    expect(age(300)).toEqual(barelyUsed);
    expect(age(301)).toEqual({ idle: 1 });
  });
});

describe("GPUs that nobody holds: first match wins", () => {
  const rows: readonly (readonly [rule: string, given: Case, states: object])[] = [
    ["idle node", {}, { idle_node: 1 }],
    ["node not Ready, at once", { node: { ready: false, notReadySince: now } }, { unavailable: 1 }],
    ["device unhealthy or tainted", { on: { unhealthy: true } }, { unavailable: 1 }],
    [
      "unavailable before unattributed",
      { node: { ready: false }, on: { activeUnallocatedAt: now } },
      { unavailable: 1 },
    ],
    ["active without a holder", { on: { activeUnallocatedAt: now - 60 } }, { unattributed: 1 }],
    ["reservation without its pods", { on: { orphanReservation: true } }, { unattributed: 1 }],
    [
      "unattributed before cordoned",
      { node: { schedulable: false }, on: { activeUnallocatedAt: now } },
      { unattributed: 1 },
    ],
    ["cordoned", { node: { schedulable: false } }, { cordoned: 1 }],
    ["node of 899 s", { node: { createdAt: now - 899 } }, { free: 1 }],
    ["node of 900 s", { node: { createdAt: now - 900 } }, { free: 1 }],
    ["node of 901 s", { node: { createdAt: now - 901 } }, { idle_node: 1 }],
    ["node of unknown age", { node: { createdAt: null } }, { free: 1 }],
    ["node without allocatable GPUs is no idle node", { node: { allocatableGpus: 0 } }, { free: 1 }],
    ["node whose readiness is unknown", { node: { ready: null, schedulable: null } }, { free: 1 }],
  ];
  it.each(rows)("%s", (_rule, given, states) => {
    expect(unallocated(given)).toEqual(states);
  });

  it("one holder, or one unattributed GPU, and the rest of the node is free, not idle", () => {
    const beside = (other: Partial<Device>) =>
      statesOf(
        moment({
          nodes: [nodeView({ physicalGpus: 2, devices: [0, 1] })],
          devices: [device(), device({ uuid: "GPU-1", ...other })],
        }),
      );
    expect(beside({})).toEqual({ idle_node: 2 });
    expect(beside({ holders: [holding()] })).toEqual({ free: 1, active: 0.5, underutilized: 0.5 });
    expect(beside({ activeUnallocatedAt: now })).toEqual({ free: 1, unattributed: 1 });
  });

  it("the rest of a GPU that is partly held", () => {
    const partly = (on: Partial<Device>, node: Partial<NodeView> = {}) =>
      allocated({ allocated: { share: 0.25, activity: 1 }, on, node });
    expect(partly({ unattributedGpus: 0.5 })).toEqual({ active: 0.25, unattributed: 0.5, free: 0.25 });
    expect(partly({ unattributedGpus: 9 })).toEqual({ active: 0.25, unattributed: 0.75 });
    expect(partly({ unattributedGpus: 0.5 }, { schedulable: false })).toEqual({
      active: 0.25,
      unattributed: 0.5,
      cordoned: 0.25,
    });
    expect(partly({}, { ready: false, notReadySince: now - 10 })).toEqual({ active: 0.25, unavailable: 0.75 });
  });

  it("unpartitioned parts have their node's state, and are unavailable when all their GPU is", () => {
    const part = { node: "n", uuid: "GPU-0", model: "H100", pool: "H100", weight: 0.25 };
    const states = (on: Partial<Device>, node: Partial<NodeView> = {}) =>
      statesOf(
        moment({
          nodes: [nodeView(node)],
          devices: [device({ weight: 0.75, ...on })],
          unpartitioned: [part],
          pods: [],
        }),
      );
    expect(states({})).toEqual({ idle_node: 1 });
    expect(states({}, { schedulable: false })).toEqual({ cordoned: 1 });
    expect(states({ unhealthy: true })).toEqual({ unavailable: 1 });
  });

  it("an uncounted node is counted nowhere", () => {
    expect(unallocated({ node: { physicalGpus: null } })).toEqual({});
  });
});
