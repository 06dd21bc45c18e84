import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  longestGapSeconds,
  nothingWatched,
  type UsageWatch,
  watchUsage,
} from "../../../exporter/advice/usage/usageWatch.ts";
import { queueKey } from "../../../exporter/analysis/fairness/shortSince.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { DeviceReading } from "../../../exporter/model/telemetry.ts";
import { gpuNode, gpuPod, now } from "../../join/clusterBuilder.ts";
import { analysisAt, deployment, pageAt, physicalGpu, podOf, replicaSet } from "./watchedCluster.ts";

const train = deployment("train");

/** One pod with two GPUs. */
function two(devices: readonly DeviceReading[], at: number, parts: Partial<ClusterState> = {}): Partial<ClusterState> {
  return {
    nodes: [gpuNode("n1", 2)],
    owners: [train, replicaSet(train)],
    pods: [podOf(train, "train-0", "n1", 2)],
    telemetry: [pageAt("n1", devices, at)],
    ...parts,
  };
}

const both = (a: number, b: number): readonly DeviceReading[] => [
  physicalGpu("GPU-0", a, "train-0"),
  physicalGpu("GPU-1", b, "train-0"),
];
const only = (watch: UsageWatch) => [...watch.workloads.values()][0];

function watched(steps: readonly (readonly [at: number, state: Partial<ClusterState>])[]): UsageWatch {
  return steps.reduce((watch, [at, state]) => watchUsage(watch, analysisAt(state, at)), nothingWatched);
}

describe("the watch of a workload", () => {
  it("begins with what it is first seen to do", () => {
    const watch = watched([[now, two(both(0.5, 0.25), now)]]);
    expect([...watch.workloads.keys()][0]).toMatch(/^Deployment\/research\/train /);
    expect(only(watch)).toMatchObject({
      since: now,
      gpus: 2,
      peakActiveGpus: 0.75,
      peakActivity: 0.5,
      peakMemoryRatio: 0.1,
    });
  });

  it("keeps the largest of each, and since when", () => {
    const watch = watched([
      [now, two(both(0.5, 0), now)],
      [now + 30, two(both(0.1, 0.2), now + 30)],
      [now + 60, two(both(0, 0), now + 60)],
    ]);
    expect(only(watch)).toMatchObject({ since: now, peakActiveGpus: 0.5, peakActivity: 0.5 });
    expect(only(watch)?.activeGpus).toEqual(new Set(["GPU-0", "GPU-1"]));
  });

  it("says which of its GPUs were ever above the idle threshold", () => {
    const watch = watched([
      [now, two(both(0.9, 0.01), now)],
      [now + 30, two(both(0.01, 0.05), now + 30)],
    ]);
    expect(only(watch)?.activeGpus).toEqual(new Set(["GPU-0"]));
  });

  it("says nothing of memory once it was not known", () => {
    const blind = [physicalGpu("GPU-0", 0.5, "train-0", null), physicalGpu("GPU-1", 0.5, "train-0")];
    const watch = watched([
      [now, two(blind, now)],
      [now + 30, two(both(0.5, 0.5), now + 30)],
    ]);
    expect(only(watch)?.peakMemoryRatio).toBeNull();
  });

  const seen = two(both(0.5, 0.5), now);
  const breaks: readonly (readonly [what: string, state: Partial<ClusterState>])[] = [
    ["a GPU without telemetry", two([physicalGpu("GPU-0", 0.5, "train-0")], now + 30)],
    ["no telemetry at all", two([], now + 30, { telemetry: [] })],
    [
      "a pod that starts",
      two(both(0.5, 0.5), now + 30, {
        pods: [podOf(train, "train-0", "n1", 2, { allContainersStarted: false, scheduledAt: now })],
      }),
    ],
    ["pods that are not read", two(both(0.5, 0.5), now + 30, { known: new Set(["nodes"]) })],
  ];
  it.each(breaks)("breaks with %s, and begins anew after it", (_what, broken) => {
    const before = watched([[now, seen]]);
    const during = watchUsage(before, analysisAt(broken, now + 30));
    expect(during.workloads.size).toBe(0);
    const after = watchUsage(during, analysisAt(two(both(0.1, 0.1), now + 60), now + 60));
    expect(only(after)).toMatchObject({ since: now + 60, peakActivity: 0.1 });
  });

  it("begins anew with other pods", () => {
    const other = two([physicalGpu("GPU-0", 0.1, "train-1"), physicalGpu("GPU-1", 0.1, "train-1")], now + 30, {
      pods: [podOf(train, "train-1", "n1", 2)],
    });
    const watch = watched([
      [now, seen],
      [now + 30, other],
    ]);
    expect(only(watch)).toMatchObject({ since: now + 30, peakActivity: 0.1 });
  });

  it("forgets what is gone", () => {
    const watch = watched([
      [now, seen],
      [now + 30, two([physicalGpu("GPU-0", 0), physicalGpu("GPU-1", 0)], now + 30, { pods: [] })],
    ]);
    expect(watch.workloads.size).toBe(0);
  });

  it("begins anew after a time in which nobody looked, and when the clock was set back", () => {
    const late = now + longestGapSeconds + 1;
    expect(
      only(
        watched([
          [now, seen],
          [late, two(both(0.1, 0.1), late)],
        ]),
      )?.since,
    ).toBe(late);
    expect(
      only(
        watched([
          [now, seen],
          [now - 60, two(both(0.1, 0.1), now - 60)],
        ]),
      )?.since,
    ).toBe(now - 60);
  });

  it("is not of pods whose devices nobody knows", () => {
    const watch = watched([
      [now, two([physicalGpu("GPU-0", 0.5), physicalGpu("GPU-1", 0.5)], now, { pods: [gpuPod("a", "n1", 1)] })],
    ]);
    expect(watch.workloads.size).toBe(0);
  });

  it("is the very same object while nothing exceeds it", () => {
    const before = watched([[now, seen]]);
    const after = watchUsage(before, analysisAt(two(both(0.4, 0.4), now + 30), now + 30));
    expect(only(after)).toBe(only(before));
  });

  it("finds a workload again, wherever it is among the others", () => {
    const extra = deployment("a-first");
    const nodes = [gpuNode("n0", 1), gpuNode("n1", 2)];
    const more = two(both(0.1, 0.1), now + 30, {
      nodes,
      owners: [extra, replicaSet(extra), train, replicaSet(train)],
      pods: [podOf(extra, "first-0", "n0", 1), podOf(train, "train-0", "n1", 2)],
      telemetry: [pageAt("n0", [physicalGpu("GPU-9", 1, "first-0")], now + 30), pageAt("n1", both(0.1, 0.1), now + 30)],
    });
    const { snapshot } = analysisAt(more, now + 30);
    const watch = watched([
      [now, seen],
      [now + 30, more],
    ]);
    const place = watch.byPlace?.findIndex((usage) => usage?.key.startsWith("Deployment/research/train ")) ?? -1;
    expect(watch.byPlace?.[place]).toMatchObject({ since: now, peakActivity: 0.5 });
    expect(snapshot.workloads[place]?.name).toBe("train");
    expect(watch.workloads.size).toBe(2);
  });

  it("has peaks that never fall, and are those of the samples since it began", () => {
    const sample = fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 20 }), fc.boolean()), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(sample, (samples) => {
        let watch = nothingWatched;
        let begun: (readonly [number, number])[] = [];
        for (const [i, [a, b, isSeen]] of samples.entries()) {
          const at = now + i * 30;
          const devices = isSeen ? both(a / 20, b / 20) : [physicalGpu("GPU-0", a / 20, "train-0")];
          watch = watchUsage(watch, analysisAt(two(devices, at), at));
          begun = isSeen ? [...begun, [a / 20, b / 20]] : [];
          const usage = only(watch);
          if (!isSeen) expect(usage).toBeUndefined();
          else {
            expect(usage?.since).toBe(now + (i + 1 - begun.length) * 30);
            expect(usage?.peakActivity).toBe(Math.max(...begun.flat()));
            expect(usage?.peakActiveGpus).toBeCloseTo(Math.max(...begun.map(([x, y]) => x + y)), 9);
            const active = [0, 1].filter((n) => begun.some((pair) => (pair[n] ?? 0) > 0.05));
            expect([...(usage?.activeGpus ?? [])].sort()).toEqual(active.map((n) => `GPU-${n}`));
          }
        }
      }),
      { numRuns: 30, seed: 7 },
    );
  });
});

describe("the watch of a queue", () => {
  const state = (waiting: number, at: number): Partial<ClusterState> =>
    two(both(1, 1), at, {
      pods: [podOf(train, "train-0", "n1", 2), ...Array.from({ length: waiting }, (_, i) => gpuPod(`w-${i}`, null, 1))],
    });

  it("keeps the most that it allocated and asked for together", () => {
    const watch = watched([
      [now, state(3, now)],
      [now + 30, state(1, now + 30)],
    ]);
    const { queueing } = analysisAt(state(1, now), now).snapshot;
    const leaf = queueing.queues.find(({ isLeaf, allocated }) => isLeaf && allocated > 0);
    expect(leaf).toBeDefined();
    if (leaf === undefined) return;
    const key = queueKey(leaf, queueing.domains[leaf.domain]?.name ?? "");
    expect(watch.queues.get(key)).toMatchObject({ since: now, peakDemand: 5 });
  });

  it("forgets queues that are gone", () => {
    const watch = watched([
      [now, state(1, now)],
      [now + 30, { nodes: [] }],
    ]);
    expect(watch.queues.size).toBe(0);
  });
});
