import { describe, expect, it } from "vitest";
import { type Joined, join } from "../../../exporter/join/join.ts";
import { createJoinCache, type JoinCache } from "../../../exporter/join/joinCache.ts";
import { emptyMemory } from "../../../exporter/join/memory.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { DeviceReading } from "../../../exporter/model/telemetry.ts";
import { bareReading, claimant, cluster, gpuNode, gpuPod, now, page } from "../clusterBuilder.ts";
import { defaultSettings, statesOf } from "../outcomes.ts";

const nodes = [gpuNode("n", 1)];
const job = gpuPod("job", "n", 1, { createdAt: now - 7200, scheduledAt: now - 7200 });

const hungReading = bareReading("GPU-0", {
  gpuUtil: 1,
  grEngineActive: 1,
  tensorActive: 0,
  dramActive: 0.001,
  powerWatts: 121,
  claimants: [claimant("job")],
});
const stateWith = (...readings: readonly DeviceReading[]): Partial<ClusterState> => ({
  pods: [job],
  telemetry: [page("n", [...readings])],
});
const hung = stateWith(hungReading);
const works = stateWith({ ...hungReading, tensorActive: 0.4, dramActive: 0.3, powerWatts: 620 });
const lost: Partial<ClusterState> = { pods: [job], telemetry: [] };
const rowGone = stateWith();

type Minute = readonly [state: Partial<ClusterState>, minutes: number];

/** Plays one state after another, a cycle each 30 s; with a cache between the cycles, or from the memory alone. */
function play(cache: () => JoinCache, ...parts: readonly Minute[]): readonly Joined[] {
  const done: Joined[] = [];
  for (const state of parts.flatMap(([state, minutes]) => Array.from({ length: 2 * minutes }, () => state))) {
    const at = now + 30 * done.length;
    const given = cluster({ nodes, ...withFreshPages(state, at) });
    done.push(join(given, done.at(-1)?.memory ?? emptyMemory, defaultSettings, at, cache()));
  }
  return done;
}

const withFreshPages = (state: Partial<ClusterState>, at: number): Partial<ClusterState> => ({
  ...state,
  telemetry: (state.telemetry ?? []).map((one) => ({ ...one, receivedAt: at })),
});

const lastStates = (done: readonly Joined[]) => {
  const last = done.at(-1);
  return last === undefined ? {} : statesOf(last.snapshot);
};

describe.each([
  ["from the memory alone", () => createJoinCache],
  [
    "with a cache",
    () => {
      const cache = createJoinCache();
      return () => cache;
    },
  ],
])("the window of a stalled GPU, %s", (_name, caches) => {
  const states = (...parts: readonly Minute[]) => lastStates(play(caches(), ...parts));

  it("is 15 minutes in which every sample says it", () => {
    expect(states([hung, 15])).toEqual({ active: 1 });
    expect(states([hung, 15.5])).toEqual({ stalled: 1 });
  });

  it("ends with one sample that says otherwise: a checkpoint pause, a step that went on", () => {
    expect(states([hung, 14], [works, 0.5], [hung, 15])).toEqual({ active: 1 });
    expect(states([hung, 14], [works, 0.5], [hung, 15.5])).toEqual({ stalled: 1 });
  });

  it("goes on over lost scrapes, and ends after five minutes without any", () => {
    expect(states([hung, 10], [lost, 2])).toEqual({ unobserved: 1 });
    expect(states([hung, 10], [lost, 2], [hung, 4])).toEqual({ stalled: 1 });
    expect(states([hung, 10], [lost, 6], [hung, 4])).toEqual({ active: 1 });
  });

  it("ends with a row that vanishes from a page that comes", () => {
    expect(states([hung, 10], [rowGone, 1], [hung, 5])).toEqual({ active: 1 });
  });

  it("is not made of a page that does not change", () => {
    const still = { ...hung, telemetry: (hung.telemetry ?? []).map((one) => ({ ...one, movedAt: now })) };
    expect(states([still, 30])).toEqual({ active: 1 });
    const moves = { ...hung, telemetry: (hung.telemetry ?? []).map((one) => ({ ...one, movedAt: now + 29 * 60 })) };
    expect(states([moves, 30])).toEqual({ stalled: 1 });
  });

  it("is the pod's own: a pod that has just been bound did not hang before", () => {
    const young = gpuPod("job", "n", 1, { createdAt: now + 600, scheduledAt: now + 600 });
    expect(states([hung, 10], [{ ...hung, pods: [young] }, 14])).toEqual({ active: 1 });
    expect(states([hung, 10], [{ ...hung, pods: [young] }, 15.5])).toEqual({ stalled: 1 });
  });
});
