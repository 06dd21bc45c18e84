import { describe, expect, it } from "vitest";
import type { Candidate, Found } from "../../../exporter/advice/candidate.ts";
import { findUnblockGang } from "../../../exporter/advice/kinds/unblockGang.ts";
import { placementRules } from "../../../exporter/advice/whatIf/plan.ts";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import type { GangView } from "../../../exporter/join/gangView.ts";
import { now } from "../../join/clusterBuilder.ts";
import { type MoveCluster, type MoveNode, type MovePod, moveMoment, wants } from "./moveMoment.ts";

function found(
  cluster: MoveCluster,
): Found & { readonly only: Candidate | undefined; readonly gains: readonly number[] } {
  const moment = moveMoment(cluster);
  const trial = createTrial(moment);
  const result = findUnblockGang(moment, trial);
  const [only] = result.candidates;
  const gains = only === undefined ? [] : placementRules.map((rule) => only.gainedGpus(trial.outcome(only.plan, rule)));
  return { ...result, only, gains };
}

const node = (name: string, gpus: number): MoveNode => ({ name, gpus });

/** A gang of two members of 4 GPUs: one is on a node and one waits. */
function half(name: string, on: string, priority = 0, hours = 2): readonly MovePod[] {
  const gang: GangView = { id: `uid-${name}`, min: 2, bound: 1, partialSince: now - hours * 3600 };
  const both = {
    of: name,
    gang,
    gpus: 4,
    namespace: "vision",
    team: "vision",
    priority,
    ownerKind: "Job",
    hours,
  } as const;
  return [
    { ...both, name: `${name}-0`, node: on },
    { ...both, name: `${name}-1`, node: null },
  ];
}

const waits = (name: string, priority = 0) => wants(name, 1, 4, { priority, bound: 1, min: 2 });

describe("gangs that wait for each other", () => {
  const stuck: MoveCluster = {
    nodes: [node("n1", 4), node("n2", 4)],
    pods: [...half("train-a", "n1"), ...half("train-b", "n2", 0, 1)],
    waiting: [waits("train-a"), waits("train-b")],
  };

  it("one of them waits again, the one that loses least, so that the other completes", () => {
    const { only, gains, candidates } = found(stuck);
    expect(candidates).toHaveLength(1);
    expect(only).toMatchObject({
      kind: "unblock_gang",
      title: "let vision/train-b (4 GPUs) wait again: then vision/train-a (8 GPUs) starts",
      targets: ["Job vision/train-b"],
      beneficiary: { kind: "workload", name: "vision/train-a" },
      disrupted: [2],
      plan: { changes: [{ kind: "stop" }], starts: [0] },
    });
    expect(only?.steps.map(({ title }) => title)).toEqual([
      expect.stringMatching(/^Suspend Job vision\/train-b/),
      expect.stringMatching(/^Let Job vision\/train-b wait/),
    ]);
    expect(only?.signs).toEqual([{ kind: "pods-left", pods: [{ uid: "uid-train-b-0", node: "n2" }] }]);
    expect(gains).toEqual([8, 8]);
  });

  it("never one of a higher priority for one of a lower", () => {
    const { only } = found({
      ...stuck,
      pods: [...half("train-a", "n1"), ...half("train-b", "n2", 50, 1)],
      waiting: [waits("train-a"), waits("train-b", 50)],
    });
    expect(only?.targets).toEqual(["Job vision/train-a"]);
  });

  it("none where a guard speaks for all of them", () => {
    const pods = stuck.pods.map((pod) => ({
      ...pod,
      disruption: { isStatic: false, hasLocalStorage: false, forbiddenBy: "example.com/leave-alone" },
    }));
    const { candidates, withheld } = found({ ...stuck, pods });
    expect(candidates).toEqual([]);
    expect(withheld).toMatchObject([{ kind: "unblock_gang", why: "guard" }]);
    expect(withheld[0]?.reason).toContain("leave-alone");
  });

  it("none where nobody completes by it", () => {
    const { candidates, withheld } = found({
      ...stuck,
      waiting: [wants("train-a", 2, 4, { bound: 1, min: 3 }), wants("train-b", 2, 4, { bound: 1, min: 3 })],
    });
    expect(candidates).toEqual([]);
    expect(withheld).toMatchObject([{ why: "no-plan" }]);
  });
});

describe("a gang by itself that holds GPUs and cannot run", () => {
  it("completes where moving others makes room for its members", () => {
    const { only, gains } = found({
      nodes: [node("n1", 4), node("n2", 4), node("n3", 4)],
      pods: [
        ...half("train-a", "n1", 100),
        { name: "small", node: "n2", gpus: 1 },
        { name: "other", node: "n3", gpus: 3, hours: 50 },
      ],
      waiting: [waits("train-a", 100)],
    });
    expect(only).toMatchObject({
      kind: "unblock_gang",
      title: "move ads/small (1 GPU) from n2 to n3: then vision/train-a (8 GPUs) runs",
      beneficiary: { kind: "workload", name: "vision/train-a" },
    });
    expect(only?.reason).toContain("1 of its 2 members hold 4 GPUs");
    expect(gains).toEqual([8, 8]);
  });

  const full: MoveCluster = {
    nodes: [node("n1", 4), node("n2", 4)],
    pods: [...half("train-a", "n1"), { name: "full", node: "n2", gpus: 4 }],
    waiting: [waits("train-a"), wants("next", 1, 4, { priority: 10 })],
  };

  it("waits again as a whole where nothing makes room for it, if someone else then starts", () => {
    const { only, gains } = found(full);
    expect(only).toMatchObject({
      title: "let vision/train-a (4 GPUs) wait again: then vision/next (4 GPUs) starts",
      plan: { starts: [1] },
    });
    expect(gains).toEqual([4, 4]);
  });

  it("keeps what it has where nobody would start, or only who is less urgent", () => {
    expect(found({ ...full, waiting: full.waiting?.slice(0, 1) ?? [] })).toMatchObject({
      candidates: [],
      withheld: [{ subject: "vision/train-a", why: "no-plan" }],
    });
    const pods = [...half("train-a", "n1", 50), { name: "full", node: "n2", gpus: 4, priority: 90 }];
    expect(found({ ...full, pods }).candidates).toEqual([]);
  });

  it("is left alone for its first five minutes", () => {
    const pods = [...half("train-a", "n1", 0, 1 / 30), { name: "full", node: "n2", gpus: 4 }];
    expect(found({ ...full, pods })).toMatchObject({ candidates: [], withheld: [] });
  });
});

describe("a gang that has run and lost a member", () => {
  /** What is left of it is on a node, and nobody makes the other one. */
  const lost = (hours: number, parts: Partial<GangView> = {}): MoveCluster => ({
    nodes: [node("n1", 4)],
    pods: half("train", "n1", 0, hours)
      .filter((pod) => pod.node !== null)
      .map((pod) => ({
        ...pod,
        gang: {
          id: "PodGroup vision/train",
          min: 2,
          bound: 1,
          partialSince: now - hours * 3600,
          hasLostMember: true,
          ...parts,
        },
      })),
    waiting: [],
  });

  it("is to be restarted whole by its owner, from its last checkpoint", () => {
    const { only, gains } = found(lost(3));
    expect(only).toMatchObject({
      kind: "unblock_gang",
      title: expect.stringMatching(
        /^ask team vision to restart Job vision\/train whole, from its last checkpoint: it has lost a member, and 4 H100 do nothing since /,
      ),
      decision: { act: "ask" },
      targets: ["Job vision/train"],
      steps: [],
      questions: [{ to: "team vision", about: "Job vision/train" }],
      measuredBy: { kind: "work-restarted" },
    });
    expect(only?.evidence).toContainEqual({ name: "GPU-hours held since", value: "12.0" });
    expect(only?.questions?.[0]?.question).toContain("restart it whole, from its last checkpoint");
    expect(gains).toEqual([4, 4]);
  });

  it("is worth an hour at least from the first moment on", () => {
    const cluster = lost(0);
    const { only } = found(cluster);
    const trial = createTrial(moveMoment(cluster));
    expect(only?.gainedGpuHours?.(trial.outcome(only.plan, "mostAllocated"))).toBe(4);
  });

  it("is not asked about while it waits to begin", () => {
    const waiting = lost(3);
    const pods = waiting.pods.map((pod) =>
      pod.gang ? { ...pod, gang: { id: pod.gang.id, min: 2, bound: 1, partialSince: now - 3 * 3600 } } : pod,
    );
    expect(found({ ...waiting, pods }).candidates).toEqual([]);
  });

  it("is requeued as before if another one starts because of that", () => {
    const { only } = found({
      nodes: [node("n1", 4)],
      pods: half("train", "n1").map((pod) => ({
        ...pod,
        gang: {
          ...half("train", "n1")[0]?.gang,
          id: "uid-train",
          min: 2,
          bound: 1,
          partialSince: now - 7200,
          hasLostMember: true,
        },
      })),
      waiting: [waits("train"), wants("other", 1, 4)],
    });
    expect(only?.title).toMatch(/^let vision\/train .* wait again/);
  });
});
