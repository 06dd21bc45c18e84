import { describe, expect, it } from "vitest";
import { join } from "../../exporter/join/join.ts";
import { createJoinCache } from "../../exporter/join/joinCache.ts";
import { emptyMemory } from "../../exporter/join/memory.ts";
import { isoTime } from "../../exporter/kernel/isoTime.ts";
import { mayBeDisrupted } from "../../exporter/model/disruption.ts";
import { cluster, gpuNode, gpuPod, jobLimits, now, owner, ownerRef } from "./clusterBuilder.ts";
import { defaultSettings, joined, podOf, snapshotOf } from "./outcomes.ts";

const train = owner("Job", "train");
const nodes = [gpuNode("n", 8)];
type PodParts = Parameters<typeof gpuPod>[3];

const disruptionOf = (parts: PodParts, owners = [train]) =>
  podOf(snapshotOf({ nodes, pods: [gpuPod("p", "n", 1, { owner: ownerRef(train), ...parts })], owners }), "p")
    .disruption;

describe("a pod may be taken off its node", () => {
  it("unless an annotation of its own forbids it, each read as its own program reads it", () => {
    const forbiddenBy = (annotations: Record<string, string>) => disruptionOf({ annotations }).forbiddenBy;
    expect(forbiddenBy({ "karpenter.sh/do-not-disrupt": "true" })).toBe("karpenter.sh/do-not-disrupt");
    expect(forbiddenBy({ "fairlead.dev/do-not-disrupt": "true" })).toBe("fairlead.dev/do-not-disrupt");
    const [safe, prefer] = [
      "cluster-autoscaler.kubernetes.io/safe-to-evict",
      "descheduler.alpha.kubernetes.io/prefer-no-eviction",
    ];
    expect(forbiddenBy({ [safe]: "false" })).toBe(safe);
    for (const text of ["true", "false", ""]) expect(forbiddenBy({ [prefer]: text })).toBe(prefer);
    for (const allowing of [
      { "karpenter.sh/do-not-disrupt": "false" },
      { "fairlead.dev/do-not-disrupt": "" },
      { [safe]: "true" },
      { [safe]: "no" },
    ])
      expect(forbiddenBy(allowing)).toBeNull();
  });

  it("unless one of its owners forbids it, however far up", () => {
    const annotations = { "karpenter.sh/do-not-disrupt": "true" };
    const set = owner("JobSet", "set", null, { annotations });
    const above = owner("Job", "train", set);
    expect(disruptionOf({ owner: ownerRef(above) }, [above, set]).forbiddenBy).toBe("karpenter.sh/do-not-disrupt");
    expect(disruptionOf({ owner: ownerRef(above) }, [above]).forbiddenBy).toBeNull();
  });

  it("unless a kubelet made it from a file", () => {
    expect(disruptionOf({ annotations: { "kubernetes.io/config.mirror": "0123" } })).toEqual({
      ...mayBeDisrupted,
      isStatic: true,
    });
  });

  it("unless something on its node would be lost that its author does not give up", () => {
    const safe = (text: string) => ({ "cluster-autoscaler.kubernetes.io/safe-to-evict": text });
    expect(disruptionOf({ hasLocalStorage: true })).toEqual({ ...mayBeDisrupted, hasLocalStorage: true });
    expect(disruptionOf({ hasLocalStorage: true, annotations: safe("true") })).toEqual(mayBeDisrupted);
    expect(disruptionOf({ hasLocalStorage: true, annotations: safe("false") })).toMatchObject({
      hasLocalStorage: true,
      forbiddenBy: "cluster-autoscaler.kubernetes.io/safe-to-evict",
    });
  });

  it("by one object for all pods that are alike", () => {
    const allocated = gpuPod("a", "n", 1, {
      hasLocalStorage: true,
      annotations: { "fairlead.dev/do-not-disrupt": "true" },
    });
    const { pods } = snapshotOf({
      nodes,
      pods: [allocated, { ...allocated, name: "b", uid: "b" }, gpuPod("c", "n", 1)],
    });
    expect(pods[0]?.disruption).toBe(pods[1]?.disruption);
    expect(pods[2]?.disruption).toBe(mayBeDisrupted);
  });
});

describe("the last checkpoint of a pod", () => {
  const saved = (seconds: number, name = "fairlead.dev/checkpointed-at") => ({ [name]: isoTime(now + seconds) });
  const checkpointOf = (pod: PodParts, above = train) =>
    podOf(snapshotOf({ nodes, pods: [gpuPod("p", "n", 1, { owner: ownerRef(above), ...pod })], owners: [above] }), "p")
      .checkpointedAt;

  it("is the latest that it or an owner says, under Fairlead's name or Volcano's", () => {
    const above = owner("Job", "train", null, { annotations: saved(-300, "volcano.sh/last-checkpoint-time") });
    expect(checkpointOf({ annotations: saved(-600) })).toBe(now - 600);
    expect(checkpointOf({ annotations: saved(-600) }, above)).toBe(now - 300);
    expect(checkpointOf({ annotations: saved(-200) }, above)).toBe(now - 200);
    expect(checkpointOf({})).toBeNull();
  });

  it("is no time in the future, and nothing that is no time", () => {
    const above = owner("Job", "train", null, { annotations: saved(-300) });
    expect(checkpointOf({ annotations: saved(60) }, above)).toBe(now - 300);
    expect(checkpointOf({ annotations: saved(60) })).toBeNull();
    for (const text of ["soon", "", "2026-13-40T00:00:00Z", String(now - 5)])
      expect(checkpointOf({ annotations: { "fairlead.dev/checkpointed-at": text } })).toBeNull();
  });

  it("comes when its time has come", () => {
    const cache = createJoinCache();
    const pods = [gpuPod("p", "n", 1, { annotations: saved(60) }), gpuPod("q", "n", 1)];
    const state = cluster({ nodes, pods });
    const viewsAt = (seconds: number) => join(state, emptyMemory, defaultSettings, now + seconds, cache).snapshot.pods;
    const [first, second, third] = [viewsAt(0), viewsAt(60), viewsAt(90)];
    expect([first, second, third].map((views) => views[0]?.checkpointedAt)).toEqual([null, now + 60, now + 60]);
    expect(third[0]).toBe(second[0]);
    expect(third[1]).toBe(first[1]);
  });
});

describe("the owners of a workload", () => {
  it("are named from the controller of its pods to the top, one more than could be read", () => {
    const top = owner("TrainJob", "train");
    const set = owner("JobSet", "train", top, { apiVersion: "jobset.x-k8s.io/v1alpha2" });
    const job = owner("Job", "train-0", set, { apiVersion: "batch/v1" });
    const ownersOf = (owners: readonly (typeof top)[]) =>
      snapshotOf({ nodes, pods: [gpuPod("p", "n", 1, { owner: ownerRef(job) })], owners }).workloads[0]?.owners;
    const refs = [job, set, top].map(ownerRef);
    expect(ownersOf([job, set, top])).toEqual(refs);
    expect(ownersOf([job, set])).toEqual(refs);
    expect(ownersOf([job])).toEqual(refs.slice(0, 2));
    expect(ownersOf([])).toEqual(refs.slice(0, 1));
  });

  it("are none of a bare pod, and end in a circle", () => {
    expect(snapshotOf({ nodes, pods: [gpuPod("p", "n", 1)] }).workloads[0]?.owners).toEqual([]);
    const a = owner("Job", "a", owner("Job", "b"));
    const b = owner("Job", "b", a);
    const { workloads } = snapshotOf({ nodes, pods: [gpuPod("p", "n", 1, { owner: ownerRef(a) })], owners: [a, b] });
    expect(workloads[0]?.owners.length).toBeLessThan(12);
  });
});

describe("the Job of a workload", () => {
  const jobOf = (pods: readonly (readonly [pod: string, job: string])[], owners: readonly ReturnType<typeof owner>[]) =>
    snapshotOf({
      nodes,
      pods: pods.map(([name, job]) => gpuPod(name, "n", 1, { owner: ownerRef(owner("Job", job)) })),
      owners,
    }).workloads.map(({ job }) => job);

  it("is the one that controls its pods, as far as it could be read", () => {
    const job = jobLimits({ failed: 2 });
    expect(jobOf([["p", "train"]], [owner("Job", "train", null, { job })])).toEqual([job]);
    expect(jobOf([["p", "train"]], [train])).toEqual([null]);
    expect(jobOf([["p", "train"]], [])).toEqual([null]);
  });

  it("is none that is above what controls them", () => {
    const above = owner("Job", "above", null, { job: jobLimits() });
    const replicas = owner("ReplicaSet", "replicas", above);
    const pods = [gpuPod("p", "n", 1, { owner: ownerRef(replicas) })];
    expect(snapshotOf({ nodes, pods, owners: [replicas, above] }).workloads.map(({ job }) => job)).toEqual([null]);
  });

  it("is of several the one that the loss of a pod would sooner end, whatever their order", () => {
    const set = owner("JobSet", "set");
    const inSet = (name: string, job: ReturnType<typeof jobLimits> | null) => owner("Job", name, set, { job });
    const worst = (a: ReturnType<typeof jobLimits> | null, b: ReturnType<typeof jobLimits> | null) => {
      const owners = [inSet("a", a), inSet("b", b), set];
      const found = [
        ...jobOf(
          [
            ["p", "a"],
            ["q", "b"],
          ],
          owners,
        ),
        ...jobOf(
          [
            ["p", "b"],
            ["q", "a"],
          ],
          owners,
        ),
      ];
      expect(found.length).toBe(2);
      expect(found[0]).toEqual(found[1]);
      return found[0];
    };
    const [fresh, nearEnd] = [jobLimits(), jobLimits({ failed: 5 })];
    expect(worst(fresh, nearEnd)).toEqual(nearEnd);
    expect(worst(nearEnd, jobLimits({ onDisruption: "Ignore", backoffLimit: 0 }))).toEqual(nearEnd);
    expect(worst(nearEnd, jobLimits({ onDisruption: "FailJob" }))).toEqual(jobLimits({ onDisruption: "FailJob" }));
    expect(worst(fresh, jobLimits({ backoffLimit: null }))).toEqual(jobLimits({ backoffLimit: null }));
    expect(worst(fresh, null)).toBeNull();
  });

  it("is known anew when one of its pods has failed", () => {
    const pods = [gpuPod("p", "n", 1, { owner: ownerRef(train) })];
    const cache = createJoinCache();
    const failedAfter = (failed: number) => {
      const state = cluster({ nodes, pods, owners: [{ ...train, job: jobLimits({ failed }) }] });
      return join(state, emptyMemory, defaultSettings, now, cache).snapshot.workloads[0]?.job?.failed;
    };
    expect([failedAfter(0), failedAfter(1)]).toEqual([0, 1]);
  });
});

describe("pods that have ended", () => {
  it("are named apart from those that are there", () => {
    const ended = gpuPod("done", "n", 1, { phase: "Succeeded" });
    const { snapshot } = joined({
      nodes,
      pods: [ended, gpuPod("failed", "n", 1, { phase: "Failed" }), gpuPod("p", "n", 1)],
    });
    expect([...snapshot.endedPods].sort()).toEqual(["uid-research-done", "uid-research-failed"]);
  });
});
