import { describe, expect, test } from "vitest";
import { createDumps, type DumpFiles, documentOfDump } from "../dumpFolder.ts";

const dumpOf = createDumps();

const node = (labels: object = {}): object => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "gpu-a", uid: "uid-a", labels, creationTimestamp: "2026-11-01T00:00:00Z" },
  status: { capacity: { "nvidia.com/gpu": "8" }, allocatable: { "nvidia.com/gpu": "8" } },
});

const pod = (metadata: object = {}): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "lab", name: "train", uid: "uid-p", creationTimestamp: "2026-11-20T00:00:00Z", ...metadata },
  spec: { nodeName: "gpu-a", containers: [{ name: "main", resources: { limits: { "nvidia.com/gpu": "1" } } }] },
  status: { phase: "Running" },
});

const checked = (...states: readonly string[]): object => ({
  apiVersion: "kueue.x-k8s.io/v1beta2",
  kind: "Workload",
  metadata: { namespace: "lab", name: "train", uid: "uid-w" },
  spec: { queueName: "lab", podSets: [{ name: "main", count: 1, template: { spec: { containers: [] } } }] },
  status: { admissionChecks: states.map((state) => ({ name: "c", state, message: "" })) },
});

const ownedBy = (kind: string) => ({
  ownerReferences: [{ apiVersion: "batch/v1", kind, name: "train", uid: "uid-owner", controller: true }],
});

/** What the dump says that it lacks. */
async function missingIn(files: DumpFiles): Promise<readonly (string | null)[]> {
  const { problems } = await documentOfDump(dumpOf(files));
  return problems
    .filter(({ code }) => code === "kinds-not-in-dump" || code === "owners-not-in-dump")
    .map(({ code, subject }) => subject ?? code);
}

const budgets = { "pdb.json": [] };
const karpenter = { "karpenter.sh/nodepool": "gpu" };

describe("what a dump lacks is reported", () => {
  test.each<readonly [string, DumpFiles, readonly string[]]>([
    ["of budgets, where pods hold GPUs", { "a.json": [node(), pod()] }, ["poddisruptionbudgets.policy"]],
    ["of NodePools, where nodes are Karpenter's", { "a.json": [node(karpenter)] }, ["nodepools.karpenter.sh"]],
    [
      "of Kueue, where pods are in its queues",
      { "a.json": [node(), pod({ labels: { "kueue.x-k8s.io/queue-name": "lab" } })], ...budgets },
      ["clusterqueues.kueue.x-k8s.io"],
    ],
    [
      "of admission checks, where Workloads wait for some",
      { "a.json": [node(), checked("Pending")], ...budgets },
      ["admissionchecks.kueue.x-k8s.io"],
    ],
    [
      "of KAI and Run:ai",
      { "a.json": [node(), pod({ labels: { "runai/queue": "lab" } })], ...budgets },
      ["queues.scheduling.run.ai"],
    ],
    [
      "of Volcano",
      { "a.json": [node(), pod({ annotations: { "scheduling.volcano.sh/queue-name": "lab" } })], ...budgets },
      ["queues.scheduling.volcano.sh"],
    ],
    ["of owners", { "a.json": [node(), pod(ownedBy("Job"))], ...budgets }, ["owners-not-in-dump"]],
  ])("%s", async (_what, files, missing) => {
    expect(await missingIn(files)).toEqual(missing);
  });

  test.each<readonly [string, DumpFiles]>([
    ["nodes alone", { "a.json": [node()] }],
    ["Workloads without checks", { "a.json": [node(), checked()] }],
    ["all that its pods speak of", { "a.json": [node(), pod()], ...budgets }],
    ["empty lists", { "a.json": [node(karpenter), pod()], ...budgets, "nodepools.karpenter.sh.json": [] }],
    ["a static pod of a node", { "a.json": [node(), pod(ownedBy("Node"))], ...budgets }],
    [
      "the owner of its pod",
      {
        "a.json": [
          node(),
          pod(ownedBy("Job")),
          { apiVersion: "batch/v1", kind: "Job", metadata: { namespace: "lab", name: "train", uid: "uid-owner" } },
        ],
        ...budgets,
      },
    ],
  ])("and nothing of it with %s", async (_what, files) => {
    expect(await missingIn(files)).toEqual([]);
  });

  test("with the command that adds it", async () => {
    const { problems } = await documentOfDump(dumpOf({ "a.json": [node(), pod()] }));
    expect(problems).toContainEqual(
      expect.objectContaining({
        message: expect.stringContaining("no pod is advised to be moved"),
        nextStep: expect.stringContaining(
          "kubectl get poddisruptionbudgets.policy -A -o json > poddisruptionbudgets.policy.json",
        ),
      }),
    );
  });
});
