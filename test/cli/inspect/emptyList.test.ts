import { describe, expect, test } from "vitest";
import { kindsInName } from "../../../cli/inspect/kindsInName.ts";
import { fairlead } from "../adviseAgainst.ts";
import { createDumps, documentOfDump } from "../dumpFolder.ts";
import { dcgmPage, fragmentedDump } from "../fragmentedDump.ts";

const dumpOf = createDumps();

/** Two nodes and a pod that would fit if another one moved; without any PodDisruptionBudget. */
const withoutBudgets = JSON.stringify({
  ...JSON.parse(fragmentedDump),
  items: JSON.parse(fragmentedDump).items.filter(({ kind }: { kind: string }) => kind !== "PodDisruptionBudget"),
});
const cluster = {
  "objects.json": withoutBudgets,
  "gpu-a.prom": dcgmPage("gpu-a", "eval-0", 1),
  "gpu-b.prom": dcgmPage("gpu-b", "serve-0", 4),
};
const moves = "move vision/eval-0 (1 GPU) from gpu-a to gpu-b";
const unread = "PodDisruptionBudgets could not be read";

describe("an empty List in a dump", () => {
  test.each(["pdb.json", "poddisruptionbudgets.json", "poddisruptionbudgets.policy.json", "prod-pdb.json"])(
    "%s says that there are no PodDisruptionBudgets",
    async (name) => {
      const dump = dumpOf({ ...cluster, [name]: [] });
      expect((await fairlead("advise", "--dump", dump)).out).toContain(moves);
      expect((await documentOfDump(dump)).problems.map(({ code }) => code)).not.toContain("empty-list");
    },
  );

  test("is no less than a PodDisruptionBudgetList without items", async () => {
    const list = JSON.stringify({ apiVersion: "policy/v1", kind: "PodDisruptionBudgetList", items: [] });
    expect((await fairlead("advise", "--dump", dumpOf({ ...cluster, "any.json": list }))).out).toContain(moves);
  });

  test("whose name does not say its kind says nothing, and a line says how to name it", async () => {
    const dump = dumpOf({ ...cluster, "rest.json": [] });
    const { out } = await fairlead("advise", "--dump", dump);
    expect(out).not.toContain(moves);
    expect(out).toContain(unread);
    expect((await documentOfDump(dump)).problems).toContainEqual(
      expect.objectContaining({
        code: "empty-list",
        subject: expect.stringContaining("rest.json"),
        nextStep: expect.stringContaining("poddisruptionbudgets.json"),
      }),
    );
  });

  test("is not there where nobody asked for the kind: budgets stay unknown", async () => {
    expect((await fairlead("advise", "--dump", dumpOf(cluster))).out).toContain(unread);
  });
});

describe("the name of a file", () => {
  test.each([
    ["nodes", ["nodes"]],
    ["pods", ["pods"]],
    ["kueue-workloads", ["kueueWorkloads"]],
    ["workloads.kueue.x-k8s.io", ["kueueWorkloads"]],
    ["workloads", ["kueueWorkloads"]],
    ["workloads.scheduling.k8s.io", ["nativeWorkloads"]],
    ["podgroups.scheduling.k8s.io", ["nativePodGroups"]],
    ["podgroups.scheduling.x-k8s.io", ["coschedulingPodGroups"]],
    ["nodepools.karpenter.sh", ["karpenterNodePools"]],
    ["queues.scheduling.run.ai", ["kaiQueues"]],
    ["podgroups.scheduling.volcano.sh", ["volcanoPodGroups"]],
    ["PriorityClass", ["priorityClasses"]],
    ["nodes,pods", ["nodes", "pods"]],
    // A kind of owners: that there are none says nothing.
    ["jobs", []],
  ])("%s says its kind", (stem, kinds) => {
    expect(kindsInName(stem)).toEqual(kinds);
  });

  test.each(["objects", "queues", "podgroups", "workloads.example.com", "pods.metrics.k8s.io", "mypods", "dump"])(
    "%s says none that is read",
    (stem) => {
      expect(kindsInName(stem)).toBeNull();
    },
  );
});
