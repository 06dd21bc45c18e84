import { describe, expect, it } from "vitest";
import { totalPools, totalTeams } from "../../exporter/analysis/utilization.ts";
import { now } from "../join/clusterBuilder.ts";
import { analysed } from "../join/outcomes.ts";
import { entriesOf } from "./entriesOf.ts";
import { device, gang, holding, moment, nodeView, podView } from "./momentBuilder.ts";

const eight = (count: number, make: (i: number) => ReturnType<typeof device>) =>
  Array.from({ length: count }, (_, i) => make(i));

describe("a team's totals", () => {
  // Six GPUs: active .5, idle, gang_wait, starting, unobserved, unavailable.
  const pods = [
    podView(),
    podView({ name: "idle" }),
    podView({ name: "gang", gang: gang(now - 900) }),
    podView({ name: "starting", starting: true, boundAt: now - 60 }),
    podView({ name: "dark" }),
    podView({ name: "broken" }),
  ];
  const parts = [
    {},
    { activity: 0, idleSince: now - 3600 },
    { activity: 0, idleSince: now - 900 },
    {},
    { activity: null },
    {},
  ];
  const devices = eight(6, (i) =>
    device({ uuid: `GPU-${i}`, unhealthy: i === 5, holders: [holding({ pod: i, ...parts[i] })] }),
  );
  const nodes = [nodeView({ physicalGpus: 6, devices: [0, 1, 2, 3, 4, 5] })];
  const waiting = [
    podView({ name: "w", status: "pending", gpus: 4, node: null }),
    podView({ name: "?", status: "pending", gpus: null }),
  ];
  const analysis = analysed(moment({ nodes, devices, pods: [...pods, ...waiting] }));

  it("utilization is active / (held - unobserved - gang_wait - starting - unavailable)", () => {
    const [team] = analysis.teams;
    expect(team).toMatchObject({ team: "vision", allocated: 6, active: 0.5, utilization: 0.25, pending: 4 });
    expect(team?.states).toEqual({
      active: 0.5,
      underutilized: 0.5,
      idle: 1,
      gang_wait: 1,
      starting: 1,
      unobserved: 1,
      unavailable: 1,
    });
  });

  it("utilization is absent, not 0, when nothing was observed", () => {
    const dark = moment({ devices: [device({ activity: null, holders: [holding({ activity: null })] })] });
    expect(analysed(dark).teams[0]?.utilization).toBeNull();
    expect(analysed(dark).pools[0]).toMatchObject({ utilization: null, activity: null });
  });

  it("a team that only waits is listed", () => {
    const alone = moment({ pods: [podView({ status: "pending", gpus: 2, team: "new" })] });
    expect(analysed(alone).teams).toMatchObject([{ team: "new", allocated: 0, pending: 2, utilization: null }]);
  });

  it("idle GPUs that are opted out are counted apart", () => {
    const out = moment({
      pods: [podView({ idleOptOut: true })],
      devices: [device({ idleNow: true, holders: [holding({ activity: 0 })] })],
    });
    expect(analysed(out).teams[0]).toMatchObject({ idleOptedOut: 1, states: { underutilized: 1 } });
  });

  it("estimated GPUs are counted", () => {
    const half = moment({ devices: [device({ holders: [holding({ estimated: true, share: 0.5 })] })] });
    expect(analysed(half).teams[0]?.estimated).toBe(0.5);
    expect(analysed(half).pools[0]?.estimated).toBe(0.5);
  });
});

describe("a pool's totals", () => {
  it("its states add up to its physical GPUs, unpartitioned parts and several models of a node included", () => {
    const devices = [
      device({ holders: [holding()] }),
      device({ uuid: "GPU-1", pool: "L4", model: "L4", weight: 4 / 7 }),
    ];
    const unpartitioned = [{ node: "n", uuid: "GPU-1", model: "L4", pool: "L4", weight: 3 / 7 }];
    const nodes = [nodeView({ physicalGpus: 2, devices: [0, 1], pools: ["H100", "L4"] })];
    const snapshot = moment({ nodes, devices, unpartitioned });
    const pools = totalPools(snapshot, analysed(snapshot).accountingEntries);
    expect(pools.map(({ pool, nodes: count, physicalGpus }) => [pool, count, physicalGpus])).toEqual([
      ["H100", 1, 1],
      ["L4", 1, 1],
    ]);
    expect(pools[0]).toMatchObject({ allocated: 1, activity: 0.5, utilization: 0.5 });
  });

  it("activity is the mean of the observed devices by weight", () => {
    const devices = [
      device({ activity: 1 }),
      device({ uuid: "GPU-1", activity: null }),
      device({ uuid: "GPU-2", activity: 0, weight: 0.5 }),
    ];
    const snapshot = moment({ nodes: [nodeView({ physicalGpus: 3, devices: [0, 1, 2] })], devices, pods: [] });
    expect(analysed(snapshot).pools[0]?.activity).toBeCloseTo(2 / 3, 12);
  });

  it("imbalance is what the sums by device and by pod differ by, over all its nodes", () => {
    const nodes = [
      nodeView({ allocatedByDevices: 1, allocatedByPods: 3 }),
      nodeView({ name: "m", devices: [], allocatedByDevices: 2, allocatedByPods: 1 }),
    ];
    expect(analysed(moment({ nodes })).pools[0]?.imbalance).toBe(3);
  });

  it("no accounting entry, no team", () => {
    expect(totalTeams(moment({ pods: [] }), entriesOf([]))).toEqual([]);
  });
});
