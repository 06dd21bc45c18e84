import { describe, expect, it } from "vitest";
import { join } from "../../exporter/join/join.ts";
import { createJoinCache } from "../../exporter/join/joinCache.ts";
import { emptyMemory } from "../../exporter/join/memory.ts";
import { parseProgressUnits } from "../../exporter/join/workloadOf.ts";
import type { ClusterState } from "../../exporter/model/cluster.ts";
import { cluster, everyKind, gpuNode, gpuPod, now, owner, ownerRef } from "./clusterBuilder.ts";
import { defaultSettings, snapshotOf } from "./outcomes.ts";

const reported = (units: string) => ({ "fairlead.dev/progress-units": units });
const train = owner("Job", "train");
const member = (name: string, units: string | null, above = train) =>
  gpuPod(name, "n", 1, { owner: ownerRef(above), annotations: units === null ? {} : reported(units) });

const unitsIn = (parts: Partial<ClusterState>) =>
  snapshotOf({ nodes: [gpuNode("n", 4)], ...parts }).workloads.map(({ progressUnits }) => progressUnits);

describe("an annotation says progress", () => {
  it.each([
    ["0", 0],
    ["12", 12],
    ["12.5", 12.5],
    ["3e6", 3_000_000],
    ["1E+3", 1000],
  ])("%s", (text, units) => {
    expect(parseProgressUnits(text)).toBe(units);
  });

  it.each([
    "",
    " ",
    "-1",
    "+1",
    "0x10",
    "1,5",
    ".5",
    "1e-3",
    "NaN",
    "Infinity",
    "1e999",
    "1e16",
    "epoch 3",
    "9".repeat(33),
  ])("but not by %j", (text) => {
    expect(parseProgressUnits(text)).toBeNull();
  });
});

describe("the progress of a workload", () => {
  it("is what its owner says, whatever its pods say", () => {
    const set = owner("JobSet", "set", null, { annotations: reported("40") });
    const child = owner("Job", "child", set, { annotations: reported("3") });
    expect(unitsIn({ pods: [member("a", "99", child)], owners: [child, set] })).toEqual([40]);
    expect(unitsIn({ pods: [member("a", "99", child)], owners: [child, { ...set, annotations: {} }] })).toEqual([3]);
  });

  it("is else the largest number of its pods", () => {
    expect(unitsIn({ pods: [member("a", "3"), member("b", "5"), member("c", null)], owners: [train] })).toEqual([5]);
    expect(unitsIn({ pods: [member("a", null), member("b", "0")], owners: [train] })).toEqual([0]);
  });

  it("is not known where nobody says it, or what is said is no number", () => {
    expect(unitsIn({ pods: [member("a", null), member("b", "much")], owners: [train] })).toEqual([null]);
    const annotated = { ...train, annotations: reported("-1") };
    expect(unitsIn({ pods: [member("a", "5")], owners: [annotated] })).toEqual([5]);
  });
});

describe("a cycle that remembers the last one", () => {
  const pods = [member("a", null), member("b", "5")];
  const state = cluster({ nodes: [gpuNode("n", 2)], pods, owners: [train], known: everyKind });

  /** The progress in each of these states, one cycle after the other with one memory. */
  function cycles(...states: readonly ClusterState[]) {
    const cache = createJoinCache();
    let memory = emptyMemory;
    return states.map((one, i) => {
      const joined = join(one, memory, defaultSettings, now + 30 * i, cache);
      memory = joined.memory;
      return joined.snapshot;
    });
  }
  const units = (...states: readonly ClusterState[]) =>
    cycles(...states).map(({ workloads }) => workloads[0]?.progressUnits ?? null);

  it("sees that an annotation of a pod changed, and that it went", () => {
    const later = { ...state, pods: [pods[0] ?? member("a", null), member("b", "6")] };
    const gone = { ...state, pods: [pods[0] ?? member("a", null), member("b", null)] };
    expect(units(state, later, gone, state)).toEqual([5, 6, null, 5]);
  });

  it("sees that an annotation of an owner changed, and that it went", () => {
    const annotated = (text: string) => ({ ...state, owners: [{ ...train, annotations: reported(text) }] });
    expect(units(state, annotated("7"), annotated("8"), state)).toEqual([5, 7, 8, 5]);
  });

  it("sees it of waiting pods, too", () => {
    const waiting = (text: string) => ({
      ...state,
      pods: [gpuPod("w", null, 1, { owner: ownerRef(train), annotations: reported(text) })],
    });
    expect(units(waiting("1"), waiting("2"))).toEqual([1, 2]);
  });

  it("keeps the views of pods while nothing changes", () => {
    const [first, second] = cycles(state, { ...state });
    expect(second?.pods[1]).toBe(first?.pods[1]);
    expect(second?.workloads[0]?.progressUnits).toBe(5);
  });
});
