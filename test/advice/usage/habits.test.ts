import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateReturn, type PublishedReturn } from "../../../exporter/advice/usage/estimateReturn.ts";
import { habitKey, type IdleSpell, runStem, spellsPerHabit } from "../../../exporter/advice/usage/habit.ts";
import { habitRows, habitsIn } from "../../../exporter/advice/usage/habitRows.ts";
import { type Habits, nothingKnown, watchHabits } from "../../../exporter/advice/usage/watchHabits.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import { gpuNode, now } from "../../join/clusterBuilder.ts";
import {
  adviceSettings,
  analysisAt,
  deployment,
  hour,
  pageAt,
  physicalGpu,
  podOf,
  replicaSet,
} from "./watchedCluster.ts";

const minute = 60;
const step = 5 * minute;
const of = deployment("lab");

/** A Deployment on one GPU: busy, idle, unseen or gone. */
function stateAt(at: number, does: "busy" | "idle" | "unseen" | "gone"): Partial<ClusterState> {
  return {
    nodes: [gpuNode("n1", 1)],
    owners: [of, replicaSet(of)],
    pods: does === "gone" ? [] : [podOf(of, "lab-0", "n1", 1)],
    telemetry: does === "unseen" ? [] : [pageAt("n1", [physicalGpu("GPU-0", does === "busy" ? 0.9 : 0, "lab-0")], at)],
  };
}

/** What is known after these times, every five minutes, one after the other. */
function watch(parts: readonly (readonly ["busy" | "idle" | "unseen" | "gone", number])[], before = nothingKnown) {
  let habits: Habits = before;
  let at = now;
  let idle: number | null = null;
  for (const [does, minutes] of parts)
    for (let left = minutes; left > 0; left -= step / minute) {
      idle = does === "idle" ? (idle ?? at) : does === "unseen" ? idle : null;
      const idleSince = new Map(idle === null ? [] : [["n1/GPU-0", idle] as const]);
      const { snapshot } = analysisAt(stateAt(at, does), at, { idleSince });
      habits = watchHabits(habits, snapshot, 1800);
      at += step;
    }
  return habits;
}

const spellsOf = (habits: Habits): readonly IdleSpell[] => habits.known.get("Deployment/research/lab")?.spells ?? [];

describe("what is known of pauses", () => {
  it("is how long each lasted, and whether it ended in work", () => {
    const habits = watch([
      ["busy", 20],
      ["idle", 40],
      ["busy", 10],
      ["idle", 90],
      ["busy", 5],
      ["idle", 30],
      ["gone", 5],
    ]);
    expect(spellsOf(habits)).toEqual([
      { seconds: 40 * minute, returned: true },
      { seconds: 90 * minute, returned: true },
      { seconds: 25 * minute, returned: false },
    ]);
    expect(habits.known.get("Deployment/research/lab")).toMatchObject({ hasWorked: true, longestReturnSeconds: 5400 });
    expect(habits.cluster).toHaveLength(3);
  });

  it("leaves out what is short, and goes on where nothing is seen for a while", () => {
    expect(
      spellsOf(
        watch([
          ["busy", 5],
          ["idle", 5],
          ["busy", 5],
        ]),
      ),
    ).toEqual([]);
    const unseen = watch([
      ["busy", 5],
      ["idle", 20],
      ["unseen", 10],
      ["idle", 20],
      ["busy", 5],
    ]);
    expect(spellsOf(unseen)).toEqual([{ seconds: 50 * minute, returned: true }]);
  });

  it("is forgotten of a pause in which nobody looked for half an hour", () => {
    const before = watch([
      ["busy", 5],
      ["idle", 20],
    ]);
    const { snapshot } = analysisAt(stateAt(now + 3 * hour, "busy"), now + 3 * hour);
    const after = watchHabits(before, snapshot, 1800);
    expect(spellsOf(after)).toEqual([]);
    expect([before.since, after.since]).toEqual([now, now + 3 * hour]);
  });

  it("is bounded", () => {
    const parts = Array.from({ length: 50 }, () => [["idle", 15] as const, ["busy", 5] as const]).flat();
    expect(spellsOf(watch(parts))).toHaveLength(spellsPerHabit);
  });

  it("says that work has not worked where nobody ever saw it working", () => {
    expect(watch([["idle", 30]]).known.get("Deployment/research/lab")).toMatchObject({ hasWorked: false });
  });

  it("outlives a restart by the ledger's rows; only changed ones are written", () => {
    const first = watch([
      ["busy", 5],
      ["idle", 40],
      ["busy", 5],
      ["idle", 20],
      ["gone", 5],
    ]);
    const changed = new Map([...first.changed].map((key) => [key, first.known.get(key) ?? null]));
    const rows = habitRows(changed).flatMap(({ kind, key, value }) => (value === null ? [] : [{ kind, key, value }]));
    expect(habitsIn(rows)).toEqual({ known: first.known, cluster: first.cluster });
    const [row] = rows;
    const broken = ["", "null", "{}", "[]", '{"firstSeenAt":-1}', row?.value.replace("[", "[null,") ?? ""];
    expect(habitsIn(broken.map((value) => ({ kind: "habit", key: "x", value }))).known.size).toBe(0);
    expect(habitsIn([{ kind: "idle", key: "x", value: row?.value ?? "" }]).known.size).toBe(0);
    const again = watch([["busy", 10]], { ...first, changed: new Set() });
    expect(again.changed.size).toBe(0);
  });
});

describe("the name by which work is known again", () => {
  it.each([
    ["train-x7kq2", "train"],
    ["train-28391745", "train"],
    ["train-2026-11-23-x7kq2", "train"],
    ["eval-20261123-0930", "eval"],
    ["sweep-9f8e7d6c", "sweep"],
    ["resnet-50", "resnet"],
    ["llama-pretrain", "llama-pretrain"],
    ["x7kq2", "x7kq2"],
  ])("of %s is %s", (name, stem) => expect(runStem(name)).toBe(stem));

  it("is the whole name of what lasts", () => {
    const work = { namespace: "lab", name: "explore-2" };
    expect(habitKey({ kind: "Notebook", ...work })).toBe("Notebook/lab/explore-2");
    expect(habitKey({ kind: "Job", ...work })).toBe("Job/lab/explore");
  });
});

describe("the estimate", () => {
  const published: readonly PublishedReturn[] = adviceSettings.publishedReturns;
  const none: readonly IdleSpell[] = [];

  it.each([
    [30, 0.98, 0.66],
    [60, 0.82, 4.8],
    [120, 0.5, 12.9],
    [600, 0.5, 12.9],
  ])("after %i min is what is published while nothing else is known", (minutes, probability, hours) => {
    const { returnProbability, expectedIdleHours, basis } = estimateReturn(minutes * 60, 24, none, none, published);
    expect([returnProbability, expectedIdleHours]).toEqual([expect.closeTo(probability, 2), expect.closeTo(hours, 1)]);
    expect(basis).toBe("published");
  });

  const spell = fc.record({ seconds: fc.integer({ min: 600, max: 2e6 }), returned: fc.boolean() });
  const spells = fc.array(spell, { maxLength: 60 });

  it("is a probability, and never longer than the horizon", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e6 }), spells, spells, (idle, own, cluster) => {
        const found = estimateReturn(idle, 24, own, cluster, published);
        expect(found.returnProbability).toBeGreaterThanOrEqual(0);
        expect(found.returnProbability).toBeLessThanOrEqual(1);
        expect(found.expectedIdleHours).toBeGreaterThanOrEqual(0);
        expect(found.expectedIdleHours).toBeLessThanOrEqual(24 + 1e-9);
        expect(found.returns).toBeLessThanOrEqual(found.spells);
      }),
      { numRuns: 200, seed: 7 },
    );
  });

  it("comes to what its own past says, the more of it there is", () => {
    const own = (count: number) => Array.from({ length: count }, () => ({ seconds: 7200, returned: true }));
    const likely = [0, 4, 32].map((count) => estimateReturn(3600, 24, own(count), none, published));
    expect(likely.map(({ basis }) => basis)).toEqual(["published", "own", "own"]);
    expect(likely[2]?.returnProbability).toBeGreaterThan(0.97);
    expect(likely[2]?.expectedIdleHours).toBeLessThan(1.5);
  });
});
