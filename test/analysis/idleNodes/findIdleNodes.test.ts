import { describe, expect, it } from "vitest";
import { findIdleNodes, type IdleNodeSettings } from "../../../exporter/analysis/idleNodes/findIdleNodes.ts";
import { type AccountedStates, accountStates } from "../../../exporter/analysis/states.ts";
import type { Device, Holding, NodeView, PodView, Snapshot } from "../../../exporter/join/snapshot.ts";
import type { GpuState } from "../../../exporter/model/gpuStates.ts";
import { now } from "../../join/clusterBuilder.ts";
import { device, holding, moment, nodeView, podView } from "../momentBuilder.ts";

const noWarmPools: IdleNodeSettings = { warmPools: [] };
const byLabel: IdleNodeSettings = { warmPools: [{ label: "fairlead.dev/warm-pool", value: "true" }] };
const warmLabels = { "fairlead.dev/warm-pool": "true" };
const idle: Partial<Holding> = { activity: 0.01, idleSince: now - 1800 };

const accounted = (snapshot: Snapshot, { warmPools }: IdleNodeSettings): AccountedStates =>
  accountStates(snapshot, { idleBatchSeconds: 1800, idleServingSeconds: 86_400, warmPools });

const found = (snapshot: Snapshot, settings = noWarmPools, since: ReadonlyMap<string, number> = new Map()) =>
  findIdleNodes(snapshot, accounted(snapshot, settings).uses, since, settings);

const kinds = (snapshot: Snapshot, settings = noWarmPools) => found(snapshot, settings).nodes.map(({ kind }) => kind);

interface Case {
  readonly devices?: readonly Partial<Device>[];
  readonly pods?: readonly Partial<PodView>[];
  readonly node?: Partial<NodeView>;
}

/** One node with GPUs that are quiet unless the case says otherwise. */
function oneNode({ devices = [{}], pods = [], node = {} }: Case): Snapshot {
  return moment({
    nodes: [nodeView({ devices: devices.map((_, i) => i), allocatableGpus: devices.length, ...node })],
    devices: devices.map((parts, i) => device({ uuid: `GPU-${i}`, activity: 0, ...parts })),
    pods: pods.map((parts) => podView(parts)),
  });
}

const allIdle: Case = { devices: [{ holders: [holding(idle)] }], pods: [{}] };

describe("a node", () => {
  const rows: readonly (readonly [what: string, given: Case, kinds: readonly string[]])[] = [
    ["with nothing allocated", {}, ["unallocated"]],
    ["that is being set up: 900 s old", { node: { createdAt: now - 900 } }, []],
    ["901 s old", { node: { createdAt: now - 901 } }, ["unallocated"]],
    ["of unknown age", { node: { createdAt: null } }, []],
    ["that is not Ready", { node: { ready: false } }, []],
    ["whose readiness is not known", { node: { ready: null } }, []],
    ["that is cordoned", { node: { schedulable: false } }, []],
    ["without allocatable GPUs", { node: { allocatableGpus: 0 } }, []],
    ["whose allocatable GPUs are not known", { node: { allocatableGpus: null } }, []],
    ["with activity that nobody holds", { devices: [{ activeUnallocatedAt: now - 60 }] }, []],
    ["with a reservation whose pods are gone", { devices: [{ orphanReservation: true }] }, []],
    ["with an idle holder", allIdle, ["allocated"]],
    ["with an idle holder and a free GPU", { ...allIdle, devices: [...(allIdle.devices ?? []), {}] }, ["allocated"]],
    [
      "with an idle holder, and activity beside it that nobody holds",
      { ...allIdle, devices: [...(allIdle.devices ?? []), { activeUnallocatedAt: now - 60 }] },
      [],
    ],
    [
      "with an idle holder, idle for 1 s too little",
      { devices: [{ holders: [holding({ activity: 0.01, idleSince: now - 1799 })] }], pods: [{}] },
      [],
    ],
    [
      "with an idle holder and a busy one",
      { devices: [{ holders: [holding(idle)] }, { holders: [holding({ pod: 1 })] }], pods: [{}, { uid: "v" }] },
      [],
    ],
    [
      "with a busy holder before an idle one",
      { devices: [{ holders: [holding()] }, { holders: [holding({ ...idle, pod: 1 })] }], pods: [{}, { uid: "v" }] },
      [],
    ],
    [
      "with an idle holder and one that is starting",
      {
        devices: [{ holders: [holding(idle)] }, { holders: [holding({ pod: 1 })] }],
        pods: [{}, { uid: "v", starting: true, boundAt: now - 10 }],
      },
      [],
    ],
    ["with a holder that opted out", { devices: [{ holders: [holding(idle)] }], pods: [{ idleOptOut: true }] }, []],
    ["with an unobserved holder", { devices: [{ holders: [holding({ activity: null })] }], pods: [{}] }, []],
    [
      "with an unhealthy GPU that is held",
      { devices: [{ unhealthy: true, holders: [holding(idle)] }], pods: [{}] },
      [],
    ],
    [
      "with an idle holder and a broken free GPU",
      { ...allIdle, devices: [...(allIdle.devices ?? []), { unhealthy: true }] },
      ["allocated"],
    ],
    ["idle, and cordoned", { ...allIdle, node: { schedulable: false } }, []],
    ["idle, and too young", { ...allIdle, node: { createdAt: now - 900 } }, []],
  ];
  it.each(rows)("%s", (_what, given, expected) => {
    expect(kinds(oneNode(given))).toEqual(expected);
  });
});

describe("warm pools", () => {
  const warm = { ...allIdle, node: { labels: warmLabels } };

  it("are marked as such, of either kind", () => {
    expect(found(oneNode(warm), byLabel).nodes).toMatchObject([{ kind: "allocated", isWarmPool: true }]);
    const empty = oneNode({ node: { labels: warmLabels } });
    expect(found(empty, byLabel).nodes).toMatchObject([{ kind: "unallocated", isWarmPool: true }]);
    expect(found(empty, noWarmPools).nodes).toMatchObject([{ kind: "unallocated", isWarmPool: false }]);
  });

  it("have free GPUs, not those of an idle node", () => {
    const states = (settings: IdleNodeSettings, labels: Readonly<Record<string, string>>): readonly GpuState[] =>
      accounted(oneNode({ node: { labels } }), settings).accountingEntries.list.map(({ state }) => state);
    expect(states(byLabel, warmLabels)).toEqual(["free"]);
    expect(states(byLabel, { "fairlead.dev/warm-pool": "false" })).toEqual(["idle_node"]);
    expect(states(noWarmPools, warmLabels)).toEqual(["idle_node"]);
  });

  it("without a value take any value of the label", () => {
    const anyValue = { warmPools: [{ label: "spare" }] };
    expect(found(oneNode({ node: { labels: { spare: "" } } }), anyValue).nodes).toMatchObject([{ isWarmPool: true }]);
    expect(found(oneNode({}), anyValue).nodes).toMatchObject([{ isWarmPool: false }]);
  });

  it("are known while they are not idle, too", () => {
    const busy = { devices: [{ holders: [holding()] }], pods: [{}], node: { labels: warmLabels } };
    expect(found(oneNode(busy), byLabel)).toMatchObject({ nodes: [], warm: new Set([0]) });
  });

  it("are not reported by what every object has", () => {
    expect(found(oneNode({}), { warmPools: [{ label: "constructor" }] }).warm.size).toBe(0);
  });
});

describe("since when", () => {
  it("is now where it was not so before, and stays while it lasts", () => {
    const first = found(oneNode({}));
    expect(first.nodes).toMatchObject([{ since: now }]);
    const later = oneNode({});
    expect(found({ ...later, at: now + 600 }, noWarmPools, first.since).nodes).toMatchObject([{ since: now }]);
  });

  it("begins anew when the kind changes, or the node was busy", () => {
    const earlier = new Map([["unallocated/n", now - 7200]]);
    expect(found(oneNode(allIdle), noWarmPools, earlier)).toMatchObject({
      nodes: [{ kind: "allocated", since: now }],
      since: new Map([["allocated/n", now]]),
    });
    const busy = oneNode({ devices: [{ holders: [holding()] }], pods: [{}] });
    expect(found(busy, noWarmPools, earlier).since.size).toBe(0);
  });
});

describe("while objects are not read", () => {
  it("no node is known to be idle, and a streak is kept", () => {
    const earlier = new Map([["unallocated/n", now - 7200]]);
    const blind = { ...oneNode({}), coverage: { objects: false, telemetry: true, uncountedNodes: [] } };
    expect(found(blind, noWarmPools, earlier)).toMatchObject({ nodes: [], since: earlier });
  });
});

describe("several nodes", () => {
  it("are found whatever their order and that of their devices", () => {
    const one = nodeView({ name: "a", devices: [0] });
    const two = nodeView({ name: "b", devices: [1, 2] });
    const turned = nodeView({ name: "b", devices: [2, 1] });
    const uncounted = nodeView({ name: "c", physicalGpus: null, devices: [], allocatableGpus: 0 });
    const snapshot = moment({
      nodes: [],
      devices: [
        device({ node: "a", activity: 0 }),
        device({ node: "b", uuid: "GPU-1", holders: [holding(idle)] }),
        device({ node: "b", uuid: "GPU-2", holders: [holding({ pod: 1 })] }),
      ],
      pods: [podView({ node: "b" }), podView({ uid: "v", node: "b" })],
    });
    const orders = [
      [one, two],
      [two, one],
      [one, turned],
      [turned, one],
      [uncounted, two, one],
    ];
    for (const nodes of orders)
      expect(found({ ...snapshot, nodes }).nodes).toMatchObject([{ node: nodes.indexOf(one), kind: "unallocated" }]);
  });
});
