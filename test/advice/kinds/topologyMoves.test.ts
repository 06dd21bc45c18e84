import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findDefragment } from "../../../exporter/advice/kinds/defragment.ts";
import { allPieces } from "../../../exporter/advice/rounds/inPieces.ts";
import { placementRules } from "../../../exporter/advice/whatIf/plan.ts";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import type { WorkloadView } from "../../../exporter/join/snapshot.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import type { RequiredTopology } from "../../../exporter/model/topology.ts";
import { kaiPodGroup } from "../../analysis/queueObjectBuilder.ts";
import { podNeeds, podSet, workload } from "../../queues/kueueRows.ts";
import { budget } from "../guards/guardMoment.ts";
import { type MoveCluster, type MoveNode, type MovePod, moveMoment, wants } from "./moveMoment.ts";

const [block, rack] = ["example.com/block", "example.com/rack"];

/** A node of 4 GPUs in a rack: `r1-a` is in rack r1. All racks are in one block. */
const node = (name: string, parts: Partial<MoveNode> = {}): MoveNode => ({
  name,
  gpus: 4,
  labels: { [block]: "b", [rack]: name.split("-")[0] ?? "" },
  ...parts,
});
const pod = (name: string, on: string, gpus = 1, parts: Partial<MovePod> = {}): MovePod => ({
  name,
  node: on,
  gpus,
  ...parts,
});

/** A pod that may not move: it is more important than what waits. Without a number it fills its node. */
const stays = (name: string, on: string, gpus = 4): MovePod => pod(name, on, gpus, { priority: 500 });

const requires = (level: string): RequiredTopology => ({ scheduler: "kueue", topology: null, level, tier: null });

/** Two pods of 4 GPUs wait; what they require of the topology, if anything. */
function waits(level: string | null, parts: Partial<MoveCluster> = {}): Partial<MoveCluster> {
  const required = level === null ? {} : { requiredTopology: requires(level) };
  const queueObjects = {
    ...noQueueObjects,
    kueueTopologies: [{ name: "t", levels: [block, rack].map((nodeLabel) => ({ nodeLabel, alias: null })) }],
    kueueWorkloads: [workload("train", [{ ...podSet(2, 4), ...required }], { uid: "uid-train" })],
  };
  return {
    waiting: [wants("train", 2, 4, { scheduler: "kueue" })],
    ...parts,
    parts: { queueObjects, ...parts.parts },
  };
}

/** Racks of 3 nodes: r1 has 1 whole free node, r2 has 1, r3 is full but for the crumbs that take what moves. */
const scattered: MoveCluster = {
  nodes: ["r1-a", "r1-b", "r1-c", "r2-a", "r2-b", "r2-c", "r3-a", "r3-b"].map((name) => node(name)),
  pods: [
    pod("one", "r1-b"),
    stays("two", "r1-c"),
    pod("three", "r2-b", 1),
    pod("four", "r2-b", 1),
    stays("five", "r2-c"),
    stays("six", "r3-a", 2),
    stays("seven", "r3-b", 2),
  ],
};

function found(cluster: Partial<MoveCluster>) {
  const moment = moveMoment({ ...scattered, ...cluster });
  const trial = createTrial(moment);
  const { candidates, withheld } = allPieces(findDefragment(moment, trial));
  const [only] = candidates;
  const gains = only === undefined ? [] : placementRules.map((rule) => only.gainedGpus(trial.outcome(only.plan, rule)));
  return { candidates, withheld, only, gains };
}

describe("advice to open a slot in a rack", () => {
  it("moves the fewest pods out of one rack, and says which rack then takes the gang", () => {
    const { only, gains, candidates } = found(waits(rack));
    expect(candidates.length).toBe(1);
    expect(only).toMatchObject({
      kind: "defragment",
      title: expect.stringMatching(
        /^move ads\/one \(1 GPU\) from r1-b to \S+: then r1 takes vision\/train \(8 GPUs\)$/,
      ),
      targets: ["Pod ads/one"],
      disrupted: [0],
    });
    expect(only?.reason).toContain("but not enough of them in one domain of example.com/rack");
    expect(gains).toEqual([8, 8]);
  });

  it("takes another rack where a budget keeps the pod of the first one", () => {
    const pods = scattered.pods.map((one) => (one.name === "one" ? { ...one, labels: { app: "serve" } } : one));
    const podDisruptionBudgets = [budget(0, { namespace: "ads", matchLabels: { app: "serve" } })];
    const { only, gains } = found({ pods, ...waits(rack, { parts: { podDisruptionBudgets } }) });
    expect(only?.title).toMatch(/^move ads\/four and ads\/three \(2 GPUs\) from r2-b: then r2 takes vision\/train/);
    expect(gains).toEqual([8, 8]);
  });

  it("is not given where every pod in the way may not move", () => {
    const { candidates, withheld } = found(
      waits(rack, { parts: { podDisruptionBudgets: [budget(0, { namespace: "ads" })] } }),
    );
    expect(candidates).toEqual([]);
    expect(withheld).toMatchObject([{ kind: "defragment", subject: "vision/train", why: "guard" }]);
    expect(withheld[0]?.reason).toMatch(/^No moves in r1 help vision\/train: .*PodDisruptionBudget ads\/serving/);
  });

  it("is not given where a pod could only go to the free node that the gang needs: the hole would only shift", () => {
    const keptIn = (name: string) => podNeeds({ "nvidia.com/gpu": 1 }, { nodeSelector: { [rack]: name } });
    const pods = [
      pod("one", "r1-b", 1, { needs: keptIn("r1") }),
      stays("two", "r1-c"),
      pod("three", "r2-b", 1, { needs: keptIn("r2") }),
      stays("five", "r2-c"),
      stays("six", "r3-a", 2),
      stays("seven", "r3-b", 2),
    ];
    const { candidates, withheld } = found({ pods, ...waits(rack) });
    expect([candidates.length, withheld.length]).toEqual([0, 1]);
    // The twin: one pod may leave its rack.
    const free = pods.map((one) => (one.name === "three" ? pod("three", "r2-b") : one));
    expect(found({ pods: free, ...waits(rack) }).only?.title).toMatch(/then r2 takes vision\/train/);
  });

  it("is not given to a gang that only prefers a rack, or requires the block in which it fits", () => {
    expect(found(waits(null))).toMatchObject({ candidates: [], withheld: [] });
    expect(found(waits(block))).toMatchObject({ candidates: [], withheld: [] });
  });

  it("moves no gang that its own scheduler keeps in one rack, for where it would go is not known", () => {
    const gang = { id: "ads/g", min: 2, bound: 2, partialSince: null };
    const other = (level: string | null) => {
      const required = level === null ? {} : { requiredTopology: { ...requires(level), scheduler: "kai" as const } };
      return kaiPodGroup("g", { uid: "uid-g", queue: "q", ...required });
    };
    const of = (level: string | null) => {
      const { parts = {}, ...rest } = waits(rack);
      const queueObjects = { ...noQueueObjects, ...parts.queueObjects, kaiPodGroups: [other(level)] };
      const cluster = { ...scattered, ...rest, parts: { ...parts, queueObjects } };
      const own = { of: "g", gang, ownerKind: "ReplicaSet" } as const;
      const pods = [pod("g-0", "r1-b", 1, own), pod("g-1", "r2-b", 2, own), ...scattered.pods.slice(4)];
      const moment = moveMoment({ ...cluster, pods: [...pods, stays("two", "r1-c")] });
      const { snapshot } = moment.analysis;
      const workloads = snapshot.workloads.map(
        (one): WorkloadView =>
          one.name === "g"
            ? {
                ...one,
                queueObject: { scheduler: "kai", kind: "PodGroup", namespace: "ads", name: "g", uid: "uid-g" },
              }
            : one,
      );
      const analysis = { ...moment.analysis, snapshot: { ...snapshot, workloads } };
      return allPieces(findDefragment({ ...moment, analysis }, createTrial({ analysis })));
    };
    expect(of(rack).candidates).toEqual([]);
    expect(of(rack).withheld[0]?.reason).toContain(
      "must stay in one domain of example.com/rack with the rest of its gang",
    );
    expect(of(null).candidates[0]?.targets).toEqual(["Deployment ads/g"]);
  });
});

describe("a gang that requires a rack", () => {
  it("starts in a simulation only where one rack takes all of it", () => {
    const start = (level: string | null) => {
      const moment = moveMoment({ ...scattered, ...waits(level) });
      return createTrial(moment).startsAll({ changes: [], starts: [0] });
    };
    expect([start(rack), start(block), start(null)]).toEqual([false, true, true]);
  });

  it("gets a plan with as few moves as there can be, and none where there can be none", () => {
    const nodesOf = (racks: number) =>
      Array.from({ length: racks }, (_, r) => ["a", "b", "c"].map((name) => `r${r}-${name}`)).flat();
    const cluster = fc
      .integer({ min: 2, max: 4 })
      .chain((racks) => fc.tuple(...nodesOf(racks).map((name) => fc.tuple(fc.constant(name), fc.nat({ max: 4 })))));
    fc.assert(
      fc.property(cluster, (used) => {
        const pods = used.flatMap(([name, count]) =>
          Array.from({ length: count }, (_, i) => pod(`${name}-${i}`, name)),
        );
        const moment = moveMoment({ nodes: used.map(([name]) => node(name)), pods, ...waits(rack) });
        if (moment.analysis.blocked.work[0]?.blocker !== "topology") return;
        const trial = createTrial(moment);
        const [only] = allPieces(findDefragment(moment, trial)).candidates;
        const fewest = fewestMoves(used);
        expect(only?.plan.changes.length ?? null).toBe(fewest);
        if (only === undefined) return;
        for (const rule of placementRules) {
          const { moved, started } = trial.outcome(only.plan, rule);
          expect(started).toEqual([0]);
          expect(
            hasSlot(
              used,
              moved.map(({ from, to }) => [from, to] as const),
            ),
          ).toBe(true);
        }
      }),
      { numRuns: 150 },
    );
  });
});

type Used = readonly (readonly [name: string, count: number])[];

const inRack = (used: Used): readonly (readonly number[])[] => {
  const racks = Map.groupBy(used.keys(), (index) => used[index]?.[0].split("-")[0]);
  return [...racks.values()];
};

/** The fewest single-GPU pods that must leave two nodes of one rack and find room on all others; `null`: more than 5, or none. */
function fewestMoves(used: Used): number | null {
  let fewest = Infinity;
  const free = used.reduce((sum, [, count]) => sum + 4 - count, 0);
  for (const own of inRack(used))
    for (const a of own)
      for (const b of own) {
        if (a >= b) continue;
        const moves = (used[a]?.[1] ?? 0) + (used[b]?.[1] ?? 0);
        if (moves <= 5 && free >= 8) fewest = Math.min(fewest, moves);
      }
  return fewest === Infinity ? null : fewest;
}

/** Whether some rack has two empty nodes after these moves. */
function hasSlot(used: Used, moves: readonly (readonly [from: number | null, to: number | null])[]): boolean {
  const counts = used.map(([, count]) => count);
  for (const [from, to] of moves) {
    if (from === null || to === null) return false;
    counts[from] = (counts[from] ?? 0) - 1;
    counts[to] = (counts[to] ?? 0) + 1;
  }
  return inRack(used).some((own) => own.filter((index) => counts[index] === 0).length >= 2);
}
