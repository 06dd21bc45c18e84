import { describe, expect, it } from "vitest";
import type { Device, Holding, NodeView, PodView } from "../../exporter/join/snapshot.ts";
import { now } from "../join/clusterBuilder.ts";
import { statesOf } from "../join/outcomes.ts";
import { device, gang, holding, moment, nodeView, podView } from "./momentBuilder.ts";

interface Case {
  readonly pod?: Partial<PodView>;
  readonly held?: Partial<Holding>;
  readonly on?: Partial<Device>;
  readonly node?: Partial<NodeView>;
}

/** States of one card that one pod holds. */
const held = ({ pod, held, on, node }: Case) =>
  statesOf(
    moment({ nodes: [nodeView(node)], devices: [device({ holders: [holding(held)], ...on })], pods: [podView(pod)] }),
  );

/** States of one card that nobody holds. */
const unheld = ({ on, node }: Case) => statesOf(moment({ nodes: [nodeView(node)], devices: [device(on)], pods: [] }));

const used = { active: 0.5, underused: 0.5 };
const idleFor = (seconds: number): Partial<Holding> => ({ activity: 0.02, idleSince: now - seconds });
const spins: Partial<Holding> = { activity: 1 };
const unseenHolding: Partial<Holding> = { activity: null };
const stalledFor = (seconds: number, unseenSince: number | null = null): Partial<Device> => ({
  stall: { since: now - seconds, unseenSince },
});
const unseen = { activity: null, idleNow: null } as const;
const barelyUsed = { active: 0.02, underused: 0.98 };

describe("held GPUs: first match wins", () => {
  const rows: readonly (readonly [rule: string, given: Case, states: object])[] = [
    ["active and underused split the share", {}, used],
    ["node not Ready, 299 s", { node: { ready: false, notReadySince: now - 299 } }, used],
    ["node not Ready, 300 s", { node: { ready: false, notReadySince: now - 300 } }, { unavailable: 1 }],
    ["node not Ready, 301 s", { node: { ready: false, notReadySince: now - 301 } }, { unavailable: 1 }],
    ["device unhealthy", { on: { unhealthy: true } }, { unavailable: 1 }],
    ["unavailable before gang_wait", { on: { unhealthy: true }, pod: { gang: gang(now - 9000) } }, { unavailable: 1 }],
    ["partial gang, 299 s", { pod: { gang: gang(now - 299) }, held: idleFor(400) }, barelyUsed],
    ["partial gang, 300 s", { pod: { gang: gang(now - 300) }, held: idleFor(400) }, barelyUsed],
    ["partial gang, 301 s", { pod: { gang: gang(now - 301) }, held: idleFor(400) }, { gang_wait: 1 }],
    ["partial gang that works all the same", { pod: { gang: gang(now - 301) } }, used],
    ["partial gang that nobody sees", { pod: { gang: gang(now - 301) }, on: unseen }, { gang_wait: 1 }],
    ["whole gang", { pod: { gang: gang(null) } }, used],
    [
      "gang_wait before starting",
      { pod: { gang: gang(now - 301), starting: true, boundAt: now - 400 }, held: idleFor(400) },
      { gang_wait: 1 },
    ],
    ["starting, 899 s", { pod: { starting: true, boundAt: now - 899 } }, { starting: 1 }],
    ["starting, 900 s", { pod: { starting: true, boundAt: now - 900 } }, { starting: 1 }],
    ["starting, 901 s", { pod: { starting: true, boundAt: now - 901 } }, used],
    [
      "starting before unobserved",
      { pod: { starting: true, boundAt: now - 10 }, held: { activity: null } },
      { starting: 1 },
    ],
    ["no fresh activity", { held: { activity: null } }, { unobserved: 1 }],
    [
      "unobserved, never idle, whatever was before",
      { held: { activity: null, idleSince: now - 9000 } },
      { unobserved: 1 },
    ],
    ["idle, batch, 1799 s", { held: idleFor(1799) }, barelyUsed],
    ["idle, batch, 1800 s", { held: idleFor(1800) }, { held_idle: 1 }],
    ["idle, batch, 1801 s", { held: idleFor(1801) }, { held_idle: 1 }],
    ["idle, serving, 86399 s", { held: idleFor(86_399), pod: { workloadClass: "serving" } }, barelyUsed],
    ["idle, serving, 86400 s", { held: idleFor(86_400), pod: { workloadClass: "serving" } }, { held_idle: 1 }],
    ["idle but opted out", { held: idleFor(9000), pod: { idleOptOut: true } }, barelyUsed],
    [
      "idle device, pod bound 1799 s ago: the rest was before it",
      { held: idleFor(9000), pod: { boundAt: now - 1799 } },
      barelyUsed,
    ],
    ["idle device, pod bound 1800 s ago", { held: idleFor(9000), pod: { boundAt: now - 1800 } }, { held_idle: 1 }],
    ["a pod without times has no age", { held: idleFor(9000), pod: { boundAt: null, createdAt: null } }, barelyUsed],
    ["a pod bound in the future", { held: idleFor(9000), pod: { boundAt: now + 60 } }, barelyUsed],
    ["stalled, 899 s", { on: stalledFor(899), held: spins }, { active: 1 }],
    ["stalled, 900 s", { on: stalledFor(900), held: spins }, { stalled: 1 }],
    ["stalled, and its page lost for a moment", { on: stalledFor(900, now - 60), held: spins }, { stalled: 1 }],
    ["stalled, and nobody sees it now", { on: stalledFor(900, now - 120), held: unseenHolding }, { unobserved: 1 }],
    ["unavailable before stalled", { on: { ...stalledFor(900), unhealthy: true }, held: spins }, { unavailable: 1 }],
    [
      "what the card did before this pod had it",
      { on: stalledFor(9000), held: spins, pod: { boundAt: now - 899 } },
      { active: 1 },
    ],
    [
      "stalled although it may be idle",
      { on: stalledFor(900), held: spins, pod: { idleOptOut: true } },
      { stalled: 1 },
    ],
    ["a part of a stalled card", { on: stalledFor(900), held: { ...spins, share: 0.5 } }, { active: 0.5, free: 0.5 }],
    [
      "a stalled card that may be another pod's",
      { on: stalledFor(900), held: { ...spins, estimated: true } },
      { active: 1 },
    ],
    ["an instance of a stalled card", { on: { ...stalledFor(900), gpuInstance: "7" }, held: spins }, { active: 1 }],
    [
      "a stalled card with two holders",
      { on: { ...stalledFor(900), holders: [holding({ ...spins, share: 0.5 }), holding({ ...spins, share: 0.5 })] } },
      { active: 1 },
    ],
    ["a cordoned node changes nothing of what is held", { node: { schedulable: false } }, used],
    ["fully active: nothing underused", { held: { activity: 1 } }, { active: 1 }],
    ["fully inactive: nothing active", { held: { activity: 0 } }, { underused: 1 }],
  ];
  it.each(rows)("%s", (_rule, given, states) => {
    expect(held(given)).toEqual(states);
  });

  it("a pod must be older than 5 min to be idle", () => {
    const age = (seconds: number) =>
      held({ held: idleFor(9000), pod: { createdAt: now - seconds, boundAt: now - 1800 } });
    expect(age(299)).toEqual(barelyUsed);
    expect(age(300)).toEqual(barelyUsed);
    expect(age(301)).toEqual({ held_idle: 1 });
  });
});

describe("GPUs that nobody holds: first match wins", () => {
  const rows: readonly (readonly [rule: string, given: Case, states: object])[] = [
    ["idle node", {}, { idle_node: 1 }],
    ["node not Ready, at once", { node: { ready: false, notReadySince: now } }, { unavailable: 1 }],
    ["device unhealthy or tainted", { on: { unhealthy: true } }, { unavailable: 1 }],
    ["unavailable before unattributed", { node: { ready: false }, on: { activeUnheldAt: now } }, { unavailable: 1 }],
    ["active without a holder", { on: { activeUnheldAt: now - 60 } }, { unattributed: 1 }],
    ["reservation without its pods", { on: { orphanReservation: true } }, { unattributed: 1 }],
    [
      "unattributed before cordoned",
      { node: { schedulable: false }, on: { activeUnheldAt: now } },
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
    expect(unheld(given)).toEqual(states);
  });

  it("one holder, or one unattributed card, and the rest of the node is free, not idle", () => {
    const beside = (other: Partial<Device>) =>
      statesOf(
        moment({
          nodes: [nodeView({ physicalGpus: 2, devices: [0, 1] })],
          devices: [device(), device({ uuid: "GPU-1", ...other })],
        }),
      );
    expect(beside({})).toEqual({ idle_node: 2 });
    expect(beside({ holders: [holding()] })).toEqual({ free: 1, active: 0.5, underused: 0.5 });
    expect(beside({ activeUnheldAt: now })).toEqual({ free: 1, unattributed: 1 });
  });

  it("the rest of a card that is partly held", () => {
    const partly = (on: Partial<Device>, node: Partial<NodeView> = {}) =>
      held({ held: { share: 0.25, activity: 1 }, on, node });
    expect(partly({ unattributedGpus: 0.5 })).toEqual({ active: 0.25, unattributed: 0.5, free: 0.25 });
    expect(partly({ unattributedGpus: 9 })).toEqual({ active: 0.25, unattributed: 0.75 });
    expect(partly({ unattributedGpus: 0.5 }, { schedulable: false })).toEqual({
      active: 0.25,
      unattributed: 0.5,
      cordoned: 0.25,
    });
    expect(partly({}, { ready: false, notReadySince: now - 10 })).toEqual({ active: 0.25, unavailable: 0.75 });
  });

  it("unpartitioned parts have their node's state, and are unavailable when all their card is", () => {
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

  it("an uncounted node is booked nowhere", () => {
    expect(unheld({ node: { physicalGpus: null } })).toEqual({});
  });
});
