import { describe, expect, it } from "vitest";
import type { ClusterState } from "../../exporter/model/cluster.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import { gpuNode, gpuPod, now, owner, ownerRef } from "./clusterBuilder.ts";
import { snapshotOf } from "./outcomes.ts";

const job = owner("Job", "train", null, { apiVersion: "batch/v1" });
const ran = { startedAt: now - 7200, endedAt: now - 60 };
const of = (name: string, parts: Partial<Pod> = {}): Pod =>
  gpuPod(name, "n", 4, { owner: ownerRef(job), createdAt: now - 7300, failedRun: ran, ...parts });
/** The pod that the Job made in its place. */
const successor = gpuPod("train-1", "n", 4, { owner: ownerRef(job), createdAt: now - 50 });

const failuresOf = (pods: readonly Pod[], parts: Partial<ClusterState> = {}) =>
  snapshotOf({ nodes: [gpuNode("n", 8)], owners: [job], pods, ...parts }).failures ?? [];

describe("a program that failed", () => {
  it("and was started again in its pod undid what it did since its start, at most", () => {
    expect(failuresOf([of("train-0")])).toEqual([
      {
        key: expect.any(String),
        uid: "uid-research-train-0",
        kind: "Job",
        namespace: "research",
        name: "train",
        pod: "train-0",
        team: "research",
        at: now - 60,
        from: now - 7200,
        isUpperBound: true,
        gpus: 4,
      },
    ]);
  });

  it("undid only what it did since its last checkpoint; one in the future, or of an earlier run, is none", () => {
    const saved = (...seconds: number[]) => {
      const [own, ofJob] = seconds.map((at) => ({ "fairlead.dev/checkpointed-at": new Date(at * 1000).toISOString() }));
      const owners = [{ ...job, annotations: ofJob ?? {} }];
      const [found] = failuresOf([of("train-0", { annotations: own ?? {} })], { owners });
      return [found?.from, found?.isUpperBound];
    };
    expect(saved(now - 600)).toEqual([now - 600, false]);
    expect(saved(now - 600, now - 300)).toEqual([now - 300, false]);
    expect(saved(now + 600, now - 600)).toEqual([now - 600, false]);
    expect(saved(now - 30)).toEqual([now - 7200, true]);
    expect(saved(now + 600)).toEqual([now - 7200, true]);
    expect(saved(now - 9000)).toEqual([now - 7200, true]);
  });

  it("and whose pod the Job made again undid what it held", () => {
    const [found, ...others] = failuresOf([of("train-0", { phase: "Failed" }), successor]);
    expect(others).toEqual([]);
    expect(found).toMatchObject({ pod: "train-0", gpus: 4, from: now - 7200 });
  });

  it("is each member of a gang that was started again", () => {
    const pods = ["train-0", "train-1"].map((name) => of(name));
    expect(failuresOf(pods).map(({ pod, gpus }) => `${pod} ${gpus}`)).toEqual(["train-0 4", "train-1 4"]);
  });

  it("undid an unknown amount where nothing says what its ended pod had", () => {
    const gpu = { resources: {}, claims: [{ claimName: "c" }], extendedResourceClaim: null };
    expect(failuresOf([of("train-0", { phase: "Failed", gpu }), successor])).toMatchObject([{ gpus: null }]);
  });
});

describe("nothing is done again", () => {
  const server = owner("Deployment", "chat", null, { apiVersion: "apps/v1" });
  it.each<readonly [why: string, pods: readonly Pod[], owners: ClusterState["owners"]]>([
    ["where nothing failed", [gpuPod("train-0", "n", 4, { owner: ownerRef(job) })], [job]],
    ["where the pod failed for good", [of("train-0", { phase: "Failed" })], [job]],
    [
      "where the Job's other pods are older",
      [of("train-0", { phase: "Failed" }), gpuPod("train-1", "n", 4, { owner: ownerRef(job), createdAt: now - 7300 })],
      [job],
    ],
    ["where the pod is nobody's", [of("bare", { phase: "Failed", owner: null }), successor], [job]],
    ["by work that serves", [of("chat-0", { owner: ownerRef(server) })], [server]],
    ["that is longer ago than an hour", [of("train-0", { failedRun: { ...ran, endedAt: now - 3601 } })], [job]],
    ["that a clock ahead of ours reports", [of("train-0", { failedRun: { ...ran, endedAt: now + 60 } })], [job]],
  ])("%s", (_why, pods, owners) => {
    expect(failuresOf(pods, { owners })).toEqual([]);
  });
});
