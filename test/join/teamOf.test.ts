import { describe, expect, it } from "vitest";
import type { TeamRule } from "../../exporter/config/schema.ts";
import { noQueueObjects } from "../../exporter/model/queues/queueObjects.ts";
import { kueueWorkload } from "../analysis/queueObjectBuilder.ts";
import { admission, localQueue } from "../queues/kueueRows.ts";
import { gpuNode, gpuPod, namespace, owner, ownerRef } from "./clusterBuilder.ts";
import { defaultSettings, joined, podOf, snapshotOf } from "./outcomes.ts";

const teamOf = (rules: readonly TeamRule[], parts: Parameters<typeof joined>[0]): string =>
  podOf(joined(parts, { ...defaultSettings, teams: [...rules] }).snapshot, "job").team;

const job = (parts: Parameters<typeof gpuPod>[3] = {}) => ({ pods: [gpuPod("job", null, 1, parts)] });
const fromLabel = (from: "pod-label" | "workload-label"): TeamRule => ({
  from,
  key: "team",
  allowed: [{ namespace: "shared-*", teams: ["vision", "speech"] }],
});

describe("the team of a pod", () => {
  it("by default is its namespace's label `team`, else the namespace", () => {
    expect(podOf(snapshotOf({ ...job(), namespaces: [namespace("research", { team: "vision" })] }), "job").team).toBe(
      "vision",
    );
    expect(podOf(snapshotOf({ ...job(), namespaces: [namespace("research")] }), "job").team).toBe("research");
    expect(podOf(snapshotOf({ ...job(), namespaces: [namespace("research", { team: " " })] }), "job").team).toBe(
      "research",
    );
  });

  it("what no rule matches is unassigned", () => {
    expect(teamOf([{ from: "queue" }], job())).toBe("unassigned");
    expect(teamOf([], job())).toBe("unassigned");
  });

  it("the first rule that gives a value decides", () => {
    const rules: TeamRule[] = [{ from: "namespace-annotation", key: "cost" }, { from: "queue" }, { from: "namespace" }];
    const queued = {
      ...job({ labels: { "kueue.x-k8s.io/queue-name": "main" } }),
      queues: { ...noQueueObjects, kueueLocalQueues: [localQueue("main", "gpu-queue", { namespace: "research" })] },
    };
    expect(teamOf(rules, { ...queued, namespaces: [namespace("research", {}, { cost: "cc-1" })] })).toBe("cc-1");
    expect(teamOf(rules, queued)).toBe("gpu-queue");
    expect(teamOf(rules, job())).toBe("research");
  });

  describe("by queue", () => {
    const labelled = job({ labels: { "kueue.x-k8s.io/queue-name": "victim", "yunikorn.apache.org/queue": "victim" } });
    const guarded: TeamRule = { from: "queue", allowed: [{ namespace: "res*", teams: ["victim", "gpu-queue"] }] };

    it("is not that of a queue that a label alone names", () => {
      expect(teamOf([{ from: "queue" }], labelled)).toBe("unassigned");
      expect(teamOf([{ from: "queue" }, { from: "namespace" }], labelled)).toBe("research");
    });

    it("is where the configuration allows that queue there, and then only what it allows", () => {
      expect(teamOf([guarded], labelled)).toBe("victim");
      expect(teamOf([guarded], { pods: [gpuPod("job", null, 1, { ...labelled.pods[0], namespace: "other" })] })).toBe(
        "unassigned",
      );
      const kueueLocalQueues = [localQueue("victim", "elsewhere", { namespace: "research" })];
      expect(teamOf([guarded], { ...labelled, queues: { ...noQueueObjects, kueueLocalQueues } })).toBe("unassigned");
    });

    it("is that of an admitted Workload", () => {
      const pods = [gpuPod("job", "n1", 1, { annotations: { "kueue.x-k8s.io/workload": "w" } })];
      const admitted = kueueWorkload("w", { namespace: "research", ...admission("gpu-queue", "h100", 1, 1) });
      const queues = { ...noQueueObjects, kueueWorkloads: [admitted] };
      expect(teamOf([{ from: "queue" }], { nodes: [gpuNode("n1", 1)], pods, queues })).toBe("gpu-queue");
    });
  });

  const patterns: readonly (readonly [string, string, boolean])[] = [
    ["research", "research", true],
    ["research", "research-2", false],
    ["re*", "research", true],
    ["*", "research", true],
    ["*search", "research", true],
    ["r*e*h", "research", true],
    ["a*a", "a", false],
    ["a*b*c", "acb", false],
    ["re.*", "research", false],
    ["r*rch*h", "research", false],
  ];
  it.each(patterns)("pattern %s and namespace %s: %s", (pattern, name, matches) => {
    const team = teamOf([{ from: "namespace-pattern", pattern, team: "x" }], job({ namespace: name }));
    expect(team).toBe(matches ? "x" : "unassigned");
  });

  it("a pod's own label counts for allowed values in allowed namespaces", () => {
    const rules = [fromLabel("pod-label")];
    expect(teamOf(rules, job({ namespace: "shared-1", labels: { team: "vision" } }))).toBe("vision");
  });

  const spoofs: readonly (readonly [string, Parameters<typeof gpuPod>[3]])[] = [
    ["a value that is not allowed", { namespace: "shared-1", labels: { team: "finance" } }],
    ["an allowed value in another namespace", { namespace: "research", labels: { team: "vision" } }],
    ["a namespace that only contains the pattern", { namespace: "my-shared-1", labels: { team: "vision" } }],
    ["an empty value", { namespace: "shared-1", labels: { team: "" } }],
    ["other spelling", { namespace: "shared-1", labels: { team: "Vision" } }],
    ["an annotation of the pod", { namespace: "shared-1", annotations: { team: "vision" } }],
    ["words of the language", { namespace: "shared-1", labels: { team: "__proto__" } }],
  ];
  it.each(spoofs)("nobody bills another team by %s", (_case, parts) => {
    expect(teamOf([fromLabel("pod-label")], job(parts))).toBe("unassigned");
  });

  it("a workload's label is that of the top owner, not of the pod; a bare pod is its own workload", () => {
    const top = owner("PyTorchJob", "train", null, { namespace: "shared-1", labels: { team: "speech" } });
    const owned = job({ namespace: "shared-1", labels: { team: "vision" }, owner: ownerRef(top) });
    expect(teamOf([fromLabel("workload-label")], { ...owned, owners: [top] })).toBe("speech");
    expect(teamOf([fromLabel("workload-label")], job({ namespace: "shared-1", labels: { team: "vision" } }))).toBe(
      "vision",
    );
  });

  it("a very long value is cut", () => {
    const long = "x".repeat(4000);
    const state = { ...job(), namespaces: [namespace("research", {}, { cost: long })] };
    expect(teamOf([{ from: "namespace-annotation", key: "cost" }], state)).toHaveLength(100);
  });
});

describe("the queue of a pod", () => {
  const queueOf = (parts: Parameters<typeof gpuPod>[3], owners = [owner("Job", "j")]) =>
    podOf(snapshotOf({ ...job(parts), owners }), "job").queue;

  it("is the ClusterQueue rather than the LocalQueue", () => {
    const labels = { "kueue.x-k8s.io/queue-name": "local", "kueue.x-k8s.io/cluster-queue-name": "cluster" };
    expect(queueOf({ labels })).toBe("cluster");
    expect(queueOf({ labels: { "kueue.x-k8s.io/queue-name": "local" } })).toBe("local");
  });

  it.each(["kai.scheduler/queue", "runai/queue", "volcano.sh/queue-name", "yunikorn.apache.org/queue"])(
    "by label %s",
    (label) => {
      expect(queueOf({ labels: { [label]: "q" } })).toBe("q");
    },
  );

  it("by Volcano's annotation, and by the owner's label", () => {
    expect(queueOf({ annotations: { "scheduling.volcano.sh/queue-name": "q" } })).toBe("q");
    const top = owner("Job", "j", null, { labels: { "kueue.x-k8s.io/queue-name": "q" } });
    expect(queueOf({ owner: ownerRef(top) }, [top])).toBe("q");
  });

  it("is none where nobody names one, or an empty one", () => {
    expect(queueOf({})).toBeNull();
    expect(queueOf({ labels: { "kai.scheduler/queue": "" } })).toBeNull();
  });
});
