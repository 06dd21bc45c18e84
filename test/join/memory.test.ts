import { describe, expect, it } from "vitest";
import type { Joined } from "../../exporter/join/join.ts";
import type { ClusterState } from "../../exporter/model/cluster.ts";
import { bareReading, gpuNode, gpuPod, now, page, reading } from "./clusterBuilder.ts";
import { defaultSettings, holdingsOf, joined, nodeOf, podOf, statesOf } from "./outcomes.ts";

const nodes = [gpuNode("n", 1)];
const job = gpuPod("job", "n", 1);

/** Runs one cycle after another, 30 s apart, each with the memory of the one before. */
function cycles(...states: readonly Partial<ClusterState>[]): readonly Joined[] {
  const done: Joined[] = [];
  for (const [i, state] of states.entries())
    done.push(joined({ nodes, ...state }, defaultSettings, done.at(-1)?.memory, now + 30 * i));
  return done;
}

const idle = { pods: [job], telemetry: [page("n", [reading("GPU-0", 0, "job")])] };
const busy = { pods: [job], telemetry: [page("n", [reading("GPU-0", 0.8, "job")])] };
const idleSince = (cycle: Joined | undefined) => cycle?.snapshot.devices.map((device) => device.idleSince);

describe("idle since", () => {
  it("is the first idle sample, kept over the cycles", () => {
    const [first, , third] = cycles(idle, idle, idle);
    expect(idleSince(first)).toEqual([now]);
    expect(idleSince(third)).toEqual([now]);
    expect(third && holdingsOf(third.snapshot, "job")[0]?.idleSince).toBe(now);
  });

  it("is cleared by one active sample", () => {
    const [, second, third] = cycles(idle, busy, idle);
    expect(idleSince(second)).toEqual([null]);
    expect(idleSince(third)).toEqual([now + 60]);
  });

  it("is cleared by one cycle without a sample: unknown is not idle", () => {
    const unobserved = { pods: [job] };
    const [, second, third] = cycles(idle, unobserved, idle);
    expect(idleSince(second)).toEqual([null]);
    expect(idleSince(third)).toEqual([now + 60]);
  });

  it("begins anew when a GPU can be used again: that nothing ran on it before says nothing about its holder", () => {
    const pods = [gpuPod("job", "n", 1, { gpu: { unhealthy: ["GPU-0"] } })];
    const [, second, third, fourth] = cycles(idle, { ...idle, pods }, { ...idle, pods }, idle);
    expect(idleSince(second)).toEqual([null]);
    expect(idleSince(third)).toEqual([null]);
    expect(idleSince(fourth)).toEqual([now + 90]);
  });

  it("is of no device that has no activity signal", () => {
    const dark = { pods: [job], telemetry: [page("n", [bareReading("GPU-0", { decoderUtil: 0 })])] };
    const [first] = cycles(dark);
    expect(first?.snapshot.devices).toMatchObject([{ activity: null, idleNow: null, idleSince: null }]);
  });
});

describe("activity without a holder", () => {
  const host = (activity: number) => ({ telemetry: [page("n", [reading("GPU-0", activity)])] });
  const at = (seconds: number, first: Joined) =>
    statesOf(joined({ nodes, ...host(0) }, defaultSettings, first.memory, now + seconds).snapshot);

  it("is remembered for 30 minutes", () => {
    const [first] = cycles(host(0.06));
    if (first === undefined) throw new Error("one cycle");
    expect(statesOf(first.snapshot)).toEqual({ unattributed: 1 });
    expect(at(1800, first)).toEqual({ unattributed: 1 });
    expect(at(1801, first)).toEqual({ idle_node: 1 });
  });

  it("begins above 0.05", () => {
    expect(cycles(host(0.05)).map((cycle) => statesOf(cycle.snapshot))).toEqual([{ idle_node: 1 }]);
  });

  it("is not what telemetry still shows of a pod that has just ended", () => {
    const after = cycles(busy, host(0.8), host(0.8), host(0.8)).map((cycle) => statesOf(cycle.snapshot));
    expect(after.slice(1)).toEqual([{ idle_node: 1 }, { idle_node: 1 }, { unattributed: 1 }]);
  });

  it("is forgotten when someone holds the device", () => {
    const [, second] = cycles(host(0.8), busy);
    expect(second?.memory.activeUnallocatedAt.size).toBe(0);
  });
});

describe("waiting and not ready", () => {
  const waiting = gpuPod("w", null, 1, { createdAt: null });

  it("pending since is the creation, else when it was first seen; gone once it is bound", () => {
    const [first, second, third] = cycles(
      { pods: [waiting] },
      { pods: [waiting] },
      { pods: [{ ...waiting, nodeName: "n" }] },
    );
    expect([first, second].map((cycle) => cycle && podOf(cycle.snapshot, "w").pendingSince)).toEqual([now, now]);
    expect(third?.memory.pendingSince.size).toBe(0);
    const [created] = cycles({ pods: [{ ...waiting, createdAt: now - 77 }] });
    expect(created?.memory.pendingSince.get(waiting.uid)).toBe(now - 77);
  });

  it("not ready since is the condition's change, else when it was first seen", () => {
    const gone = { nodes: [gpuNode("n", 1, { ready: false, readyChangedAt: null })] };
    const [, second, third] = cycles(gone, gone, {});
    expect(second && nodeOf(second.snapshot, "n").notReadySince).toBe(now);
    expect(third && nodeOf(third.snapshot, "n").notReadySince).toBeNull();
    const [reported] = cycles({ nodes: [gpuNode("n", 1, { ready: false, readyChangedAt: now - 99 })] });
    expect(reported && nodeOf(reported.snapshot, "n").notReadySince).toBe(now - 99);
  });

  it("a node that is tainted as unreachable has been so since it was seen, not since it became ready", () => {
    const taints = [{ key: "node.kubernetes.io/unreachable", value: "", effect: "NoExecute" as const }];
    const [first] = cycles({ nodes: [gpuNode("n", 1, { taints })] });
    expect(first && nodeOf(first.snapshot, "n")).toMatchObject({ ready: false, notReadySince: now });
  });
});

describe("what is remembered", () => {
  it("is only of what is there: nothing grows", () => {
    const [, second] = cycles(
      { ...idle, pods: [job, gpuPod("w", null, 1)], nodes: [gpuNode("n", 1), gpuNode("m", 1, { ready: false })] },
      { pods: [], telemetry: [] },
    );
    const sizes = Object.entries(second?.memory ?? {}).map(([name, map]) => [name, map.size]);
    expect(Object.fromEntries(sizes)).toMatchObject({
      nodes: 1,
      idleSince: 0,
      pendingSince: 0,
      notReadySince: 0,
      gangSince: 0,
      gangMost: 0,
      gangNewest: 0,
    });
  });

  it("of UUIDs is at most twice the GPUs, however many a page invents", () => {
    const inventing = (from: number) => ({
      telemetry: [
        page(
          "n",
          Array.from({ length: 100 }, (_, i) => reading(`GPU-${from + i}`, 0)),
        ),
      ],
    });
    const done = cycles(inventing(0), inventing(100), inventing(200));
    expect(done.at(-1)?.memory.nodes.get("n")?.uuids.length).toBeLessThanOrEqual(2);
  });

  it("of nodes stays while nodes cannot be read", () => {
    const known = new Set(["pods"] as const);
    const [first, second] = cycles({}, { known, nodes: [] });
    expect(second?.memory.nodes).toEqual(first?.memory.nodes);
  });
});
