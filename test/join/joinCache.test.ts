import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type JoinSettings, join } from "../../exporter/join/join.ts";
import { createJoinCache } from "../../exporter/join/joinCache.ts";
import { emptyMemory, type Memory } from "../../exporter/join/memory.ts";
import { cluster, gpuNode, gpuPod, now, page, reading } from "./clusterBuilder.ts";
import { type ChangeName, changed, changeNames } from "./clusterChanges.ts";
import { anyCluster } from "./clusterGenerator.ts";
import { expectEqual } from "./expectEqual.ts";
import { defaultSettings, withGpu } from "./outcomes.ts";

const otherSettings: readonly JoinSettings[] = [
  defaultSettings,
  { ...defaultSettings, teams: [{ from: "namespace" as const }] },
  withGpu({ pools: { "A100-SXM4-80GB": "big" }, signal: "gpu_util" }),
];

const stepOf = (names: readonly ChangeName[]) =>
  fc.record({
    change: fc.constantFrom<ChangeName>(...names),
    pick: fc.nat(20),
    // A clock that was wrong is set, too.
    seconds: fc.constantFrom(30, 30, 30, 90, 3600, -600),
    settings: fc.constantFrom(0, 0, 0, 0, 0, 1, 2),
    forgets: fc.constantFrom(false, false, false, false, false, false, true),
  });

/** What decides whether pods may be disrupted, and what that costs: their owners, Jobs, queue objects, checkpoints. */
const disruptionChanges: readonly ChangeName[] = [
  ...(["owner named", "owner read late", "owner of the owner", "job loses pods", "jobs of one set"] as const),
  ...(["pod is to stay", "pods of an owner are to stay", "pod saves its state", "owner saves its state"] as const),
  ...(["queues of Kueue", "local queues lead elsewhere", "a workload is of an owner", "a workload ends"] as const),
  ...(["queues of KAI", "pods of KAI", "queues of Volcano", "pods of Volcano", "a workload appears"] as const),
  ...(["pods of a workload", "queue objects have checkpoints", "order of pods", "pod goes", "pod waits"] as const),
];

/** `FAIRLEAD_HISTORIES=4` looks at a thousand histories of changes and not at 250. */
const times = Number(process.env.FAIRLEAD_HISTORIES ?? 1);

describe("a join that remembers what it found", () => {
  it.each([
    ["whatever changes between cycles", changeNames, 9, 250 * times],
    ["when checkpoints, Jobs and prohibitions change", disruptionChanges, 14, 80 * times],
  ])("answers as one that remembers nothing, %s", (_, names, maxLength, numRuns) => {
    fc.assert(
      fc.property(anyCluster, fc.array(stepOf(names), { minLength: 3, maxLength }), (first, steps) => {
        const cache = createJoinCache();
        let state = first;
        let memory: Memory = emptyMemory;
        let at = now;
        for (const [round, { change, pick, seconds, settings: chosen, forgets }] of steps.entries()) {
          const settings = otherSettings[chosen] ?? defaultSettings;
          const remembered = join(state, memory, settings, at, cache);
          expectEqual(remembered, join(state, memory, settings, at));
          memory = forgets ? emptyMemory : remembered.memory;
          state = changed(state, change, pick, round);
          at += seconds;
        }
      }),
      { numRuns, seed: 7 },
    );
  });

  it("keeps the views of pods and nodes, and what it remembers of nodes, while nothing about them changes", () => {
    fc.assert(
      fc.property(anyCluster, (state) => {
        const cache = createJoinCache();
        const first = join(state, emptyMemory, defaultSettings, now, cache);
        const second = join(state, first.memory, defaultSettings, now + 30, cache);
        const third = join(state, second.memory, defaultSettings, now + 60, cache);
        for (const [i, view] of third.snapshot.pods.entries()) expect(view).toBe(second.snapshot.pods[i]);
        for (const [i, view] of third.snapshot.nodes.entries()) expect(view).toBe(second.snapshot.nodes[i]);
        expect(third.memory.nodes).toBe(second.memory.nodes);
      }),
      { numRuns: 60, seed: 7 },
    );
  });

  it("remembers the same of a node when a pod begins on a GPU that was free, so that the node is bound once and not twice", () => {
    const uuids = ["GPU-0", "GPU-1", "GPU-2", "GPU-3"];
    const holders = (held: Readonly<Record<string, string>>) =>
      cluster({
        nodes: [gpuNode("n", 4)],
        pods: Object.values(held).map((name) => gpuPod(name, "n", 1)),
        telemetry: [
          page(
            "n",
            uuids.map((uuid) => reading(uuid, 0.5, ...(held[uuid] === undefined ? [] : [held[uuid]]))),
          ),
        ],
      });
    const cache = createJoinCache();
    const first = join(holders({ "GPU-1": "a" }), emptyMemory, defaultSettings, now, cache);
    const second = join(holders({ "GPU-1": "a", "GPU-3": "b" }), first.memory, defaultSettings, now + 30, cache);
    const third = join(holders({ "GPU-3": "b" }), second.memory, defaultSettings, now + 60, cache);
    expect(second.memory.nodes).toBe(first.memory.nodes);
    expect(third.memory.nodes).toBe(first.memory.nodes);
  });
});
