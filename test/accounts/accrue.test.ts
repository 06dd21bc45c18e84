import { describe, expect, it } from "vitest";
import { accrue } from "../../exporter/accounts/accrue.ts";
import type { AccruedTime } from "../../exporter/accounts/posting.ts";
import { hourParts } from "../../exporter/accounts/stepTime.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { Snapshot } from "../../exporter/join/snapshot.ts";
import type { GapReason } from "../../exporter/model/gapReasons.ts";
import { device, holding, moment, nodeView, podView } from "../analysis/momentBuilder.ts";
import { bareReading, now } from "../join/clusterBuilder.ts";
import { analysed } from "../join/outcomes.ts";

const hour = Math.floor(now / 3600) * 3600;
const from = hour + 600;

function at(parts: Partial<Snapshot> = {}): Analysis {
  return analysed(moment(parts));
}

/** The whole GPU of the first pod, as busy as said. */
const busy = (activity: number | null, parts: Partial<Snapshot> = {}): Analysis =>
  at({ devices: [device({ activity, holders: [holding({ activity })] })], ...parts });

function step(before: Analysis, after: Analysis, seconds = 30): AccruedTime {
  return accrue(before, after, { from, to: from + seconds, seconds, intervalSeconds: 30 });
}

/** GPU-seconds by state. */
function states({ postings }: AccruedTime): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { account, gpuSeconds } of postings) sums[account.state] = (sums[account.state] ?? 0) + gpuSeconds;
  return Object.fromEntries(Object.entries(sums).map(([state, sum]) => [state, Math.round(sum * 1e6) / 1e6]));
}

describe("the activity of a step", () => {
  it.each<{ name: string; after: Analysis; wanted: Record<string, number> }>([
    { name: "is the mean of both ends", after: busy(0.7), wanted: { active: 18, underutilized: 12 } },
    { name: "counts an end without activity", after: busy(0), wanted: { active: 7.5, underutilized: 22.5 } },
    {
      name: "is the earlier one when the later is unobserved",
      after: busy(null),
      wanted: { active: 15, underutilized: 15 },
    },
    {
      name: "is the earlier one when the pod is gone",
      after: at({ devices: [device({ activity: 0.9 })] }),
      wanted: { active: 15, underutilized: 15 },
    },
    {
      name: "is the earlier one when another pod of the same name has the device",
      after: busy(0.9, { pods: [podView({ uid: "other" })] }),
      wanted: { active: 15, underutilized: 15 },
    },
    {
      name: "is the mean when telemetry alone names the pod, by its name",
      after: busy(0.7, { pods: [podView({ uid: null })] }),
      wanted: { active: 18, underutilized: 12 },
    },
    {
      name: "is the earlier one when the pod now holds another device",
      after: at({
        devices: [device({ uuid: "GPU-9", activity: 0.9, holders: [holding({ activity: 0.9 })] })],
      }),
      wanted: { active: 15, underutilized: 15 },
    },
    {
      name: "keeps the earlier share when the share has changed",
      after: at({ devices: [device({ activity: 0.7, holders: [holding({ share: 0.25, activity: 0.7 })] })] }),
      wanted: { active: 18, underutilized: 12 },
    },
    {
      name: "finds the device at another place of the list",
      after: at({
        nodes: [nodeView({ devices: [0, 1], physicalGpus: 2 })],
        devices: [
          device({ uuid: "GPU-new", activity: 0 }),
          device({ activity: 0.7, holders: [holding({ activity: 0.7 })] }),
        ],
      }),
      wanted: { active: 18, underutilized: 12 },
    },
  ])("$name", ({ after, wanted }) => {
    expect(states(step(busy(0.5), after))).toEqual(wanted);
  });

  it("of a GPU that was idle and becomes busy is active for half of the step", () => {
    expect(states(step(busy(0), busy(1)))).toEqual({ active: 15, underutilized: 15 });
  });

  it("of two holders of a shared GPU is each one's own", () => {
    const pods = [podView({ uid: "a", name: "a" }), podView({ uid: "b", name: "b", team: "speech" })];
    const shared = (first: number, second: number): Analysis =>
      at({
        pods,
        devices: [
          device({
            slots: 2,
            activity: 0.5,
            holders: [
              holding({ pod: 0, share: 0.5, estimated: true, activity: first }),
              holding({ pod: 1, share: 0.25, estimated: true, activity: second }),
            ],
          }),
        ],
      });
    const { postings } = step(shared(0.2, 1), shared(0.4, 0.5));
    const of = (team: string | null, state: string) =>
      postings.find((p) => p.account.team === team && p.account.state === state);
    expect(of("vision", "active")?.gpuSeconds).toBeCloseTo(0.5 * 0.3 * 30, 9);
    expect(of("speech", "active")?.gpuSeconds).toBeCloseTo(0.25 * 0.75 * 30, 9);
    expect(of("speech", "active")?.estimatedGpuSeconds).toBeCloseTo(0.25 * 0.75 * 30, 9);
    expect(of(null, "free")?.gpuSeconds).toBeCloseTo(0.25 * 30, 9);
    expect(of(null, "free")?.estimatedGpuSeconds).toBe(0);
  });

  it("of a MIG instance is that of the same instance", () => {
    const instance = (id: string, activity: number, pod: number) =>
      device({ gpuInstance: id, weight: 0.5, activity, holders: [holding({ pod, share: 0.5, activity })] });
    const pods = [podView({ uid: "a", name: "a" }), podView({ uid: "b", name: "b", team: "speech" })];
    const nodes = [nodeView({ devices: [0, 1] })];
    const before = at({ nodes, pods, devices: [instance("1", 0, 0), instance("2", 1, 1)] });
    const after = at({ nodes, pods, devices: [instance("2", 0.5, 1), instance("1", 0.5, 0)] });
    const { postings } = step(before, after);
    const active = postings.filter((p) => p.account.state === "active").map((p) => [p.account.team, p.gpuSeconds]);
    expect(Object.fromEntries(active)).toEqual({ vision: 0.5 * 0.25 * 30, speech: 0.5 * 0.75 * 30 });
  });
});

describe("everything else of a step is that of its begin", () => {
  it.each<{ name: string; before: Analysis; wanted: Record<string, number> }>([
    { name: "unobserved", before: busy(null), wanted: { unobserved: 30 } },
    {
      name: "idle",
      before: at({ devices: [device({ activity: 0, holders: [holding({ activity: 0, idleSince: now - 4000 })] })] }),
      wanted: { idle: 30 },
    },
    {
      name: "unattributed",
      before: at({ devices: [device({ activeUnallocatedAt: now })] }),
      wanted: { unattributed: 30 },
    },
    {
      name: "unattributed beside a holder",
      before: at({
        devices: [device({ unattributedGpus: 0.25, holders: [holding({ share: 0.5, activity: 1 })] })],
      }),
      wanted: { active: 0.5 * 0.75 * 30, underutilized: 0.5 * 0.25 * 30, unattributed: 7.5, free: 7.5 },
    },
    { name: "an idle node", before: at({ devices: [device({ activity: 0 })] }), wanted: { idle_node: 30 } },
    {
      name: "a cordoned node",
      before: at({ nodes: [nodeView({ schedulable: false })] }),
      wanted: { cordoned: 30 },
    },
  ])("$name", ({ before, wanted }) => {
    expect(states(step(before, busy(0.5)))).toEqual(wanted);
  });

  it("account, workload and control sum name what held it", () => {
    const workloads = [
      {
        ...podView(),
        kind: "Job",
        namespace: "research",
        name: "train",
        localQueue: null,
        owner: null,
        ownerUids: [],
        owners: [],
        job: null,
        queueObject: null,
        progressUnits: null,
        pods: [0],
      },
    ];
    const accrued = step(busy(1, { workloads }), busy(1, { workloads }));
    expect(accrued.postings).toEqual([
      {
        hour,
        account: {
          pool: "H100",
          nodePool: "none",
          capacityType: null,
          team: "vision",
          queue: null,
          namespace: "research",
          priorityClass: "none",
          state: "active",
          currency: null,
        },
        workload: { kind: "Job", namespace: "research", name: "train" },
        gpuSeconds: 30,
        estimatedGpuSeconds: 0,
        energyJoules: null,
        cost: null,
      },
    ]);
    expect(accrued.poolHours).toEqual([{ hour, pool: "H100", physicalGpuSeconds: 30 }]);
    expect(accrued.nodeTimes).toEqual([
      {
        hour,
        pool: "H100",
        nodePool: "none",
        capacityType: null,
        state: "ready",
        nodeSeconds: 30,
        currency: null,
        cost: null,
      },
    ]);
  });

  it("a node with GPUs of several pools is divided by its GPUs", () => {
    const before = at({
      nodes: [nodeView({ pools: ["A10", "H100"], physicalGpus: 3, devices: [0, 1] })],
      devices: [device({ pool: "H100" }), device({ uuid: "GPU-1", pool: "A10", weight: 0.5 })],
      unpartitioned: [
        { node: "n", uuid: "GPU-1", model: "A10", pool: "A10", weight: 0.5 },
        { node: "n", uuid: "GPU-2", model: "A10", pool: "A10", weight: 1 },
      ],
    });
    const sums = Object.fromEntries(step(before, before).poolHours.map((p) => [p.pool, p.physicalGpuSeconds]));
    expect(sums).toEqual({ H100: 30, A10: 60 });
  });

  it("a difference between the sum by device and the sum by pod is noted by node", () => {
    const before = at({
      nodes: [nodeView({ allocatedByDevices: 1, allocatedByPods: 3 }), nodeView({ name: "m", devices: [] })],
    });
    expect(step(before, before).imbalances).toEqual([{ node: "n", pool: "H100", gpuSeconds: 60 }]);
  });

  it.each([
    ["not_ready", nodeView({ ready: false, schedulable: false })],
    ["cordoned", nodeView({ schedulable: false })],
    ["idle_unallocated", nodeView()],
    ["ready", nodeView({ createdAt: now - 60 })],
    ["unknown", nodeView({ ready: null, schedulable: null })],
  ])("a node is %s", (state, node) => {
    const before = at({ nodes: [node], devices: [device({ activity: 0 })] });
    expect(step(before, before).nodeTimes.map((t) => [t.state, t.nodeSeconds])).toEqual([[state, 30]]);
  });
});

describe("energy", () => {
  const physicalGpu = (energyJoules: number | null, powerWatts: number | null, activity = 1): Analysis =>
    at({
      devices: [
        device({
          activity,
          reading: bareReading("GPU-0", { energyJoules, powerWatts }),
          holders: [holding({ activity })],
        }),
      ],
    });
  it.each<[string, Analysis, Analysis, number | null]>([
    ["is what the counter rose", physicalGpu(1000, 500), physicalGpu(10_000, 500), 9000],
    ["of a counter that fell is the mean power", physicalGpu(10_000, 200), physicalGpu(50, 400), 9000],
    ["of a counter that went missing is the power", physicalGpu(10_000, 200), physicalGpu(null, null), 6000],
    ["of a counter that is always 0 is the power", physicalGpu(0, 200), physicalGpu(0, 200), 6000],
    ["of a counter that leaps beyond all GPUs is the power", physicalGpu(10, 200), physicalGpu(1e15, 200), 6000],
    ["without power is the counter alone", physicalGpu(10, null), physicalGpu(70, null), 60],
    ["of a counter that fell, without power, is unknown", physicalGpu(70, null), physicalGpu(10, null), null],
    ["without either is unknown", physicalGpu(null, null), physicalGpu(null, 300), null],
  ])("%s", (_name, before, after, wanted) => {
    const { postings } = step(before, after);
    expect(postings.map((p) => p.energyJoules)).toEqual([wanted]);
  });

  it("of a MIG GPU counts once, by parts of the GPU, parts that are no device included", () => {
    const instance = (id: string, weight: number, energyJoules: number) =>
      device({
        gpuInstance: id,
        weight,
        activity: null,
        reading: bareReading("GPU-0", { gpuInstance: id, energyJoules }),
      });
    const nodes = [nodeView({ devices: [0, 1] })];
    const unpartitioned = [{ node: "n", uuid: "GPU-0", model: "H100", pool: "H100", weight: 0.25 }];
    const mig = (joules: number): Analysis =>
      at({ nodes, unpartitioned, devices: [instance("1", 0.5, joules), instance("2", 0.25, joules)] });
    const { postings } = step(mig(1000), mig(4000));
    expect(postings.reduce((sum, p) => sum + (p.energyJoules ?? 0), 0)).toBeCloseTo(3000, 6);
  });

  it("is divided at the hour like the time", () => {
    const before = physicalGpu(1000, null);
    const time = { from: hour + 3600 - 10, to: hour + 3600 + 20, seconds: 30, intervalSeconds: 30 };
    const { postings } = accrue(before, physicalGpu(4000, null), time);
    expect(postings.map((p) => [p.hour, p.gpuSeconds, p.energyJoules])).toEqual([
      [hour, 10, 1000],
      [hour + 3600, 20, 2000],
    ]);
  });
});

describe("a gap", () => {
  const blind = busy(0.5, { coverage: { objects: false, telemetry: true, uncountedNodes: [] } });
  it.each<[GapReason | null, Analysis, Analysis, number, number]>([
    [null, busy(1), busy(1), 90, 90],
    ["too-long", busy(1), busy(1), 90.1, 90.1],
    [null, busy(1), busy(1), 30, 60],
    ["clock-jump", busy(1), busy(1), 30, 60.1],
    ["clock-jump", busy(1), busy(1), 30, -0.1],
    ["stale-objects", blind, busy(1), 30, 30],
    ["stale-objects", busy(1), blind, 30, 30],
  ])("%s", (gap, before, after, seconds, wall) => {
    const accrued = accrue(before, after, { from, to: from + wall, seconds, intervalSeconds: 30 });
    expect(accrued.interval).toEqual({ from, to: from + wall, seconds, gap });
    const { postings, poolHours, nodeTimes, imbalances } = accrued;
    const rows = [...postings, ...poolHours, ...nodeTimes, ...imbalances];
    if (gap === null) expect(rows).not.toEqual([]);
    else expect(rows).toEqual([]);
  });
});

describe("hours", () => {
  const cut = (begin: number, wall: number, seconds: number) =>
    hourParts({ from: begin, to: begin + wall, seconds, intervalSeconds: 30 }).map((part) => [part.hour, part.seconds]);

  it("are cut in proportion to wall time", () => {
    expect(cut(hour + 3590, 20, 30)).toEqual([
      [hour, 15],
      [hour + 3600, 15],
    ]);
  });
  it("end and begin exactly at the hour", () => {
    expect(cut(hour + 3570, 30, 30)).toEqual([[hour, 30]]);
    expect(cut(hour + 3600, 30, 30)).toEqual([[hour + 3600, 30]]);
  });
  it("of a wall clock that went back are those of its begin", () => {
    expect(cut(hour + 3600, -20, 30)).toEqual([[hour + 3600, 30]]);
  });
  it("of no time are none", () => {
    expect(cut(hour, 0, 0)).toEqual([]);
  });
});
