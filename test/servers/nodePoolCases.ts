import { describe, expect, it } from "vitest";
import { emptyNodesOf } from "../../exporter/advice/emptyNodes.ts";
import { removeEmptyNodes } from "../../exporter/advice/steps/nodeSteps.ts";
import { decodeKarpenterNodePool } from "../../exporter/sources/kubernetes/decodeKarpenterNodePool.ts";
import { nodePoolView } from "../advice/steps/stepMoment.ts";
import type { AdviceCluster } from "./adviceCluster.ts";

/** What a real API server with Karpenter's own definition says to patches of a NodePool. */
export function nodePoolCases(cluster: () => AdviceCluster): void {
  describe("NodePools of Karpenter that keep their empty nodes", () => {
    const requirements = [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] }];
    const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
    const consolidation = { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "5m" };

    it.each([
      [
        "consolidateAfter: Never",
        { ...consolidation, consolidateAfter: "Never", budgets: [{ nodes: "10%" }] },
        { consolidationPolicy: "WhenEmpty", consolidateAfter: "60m", budgets: [{ nodes: "10%" }] },
      ],
      [
        "budgets of zero",
        { ...consolidation, budgets: [{ nodes: "0" }, { nodes: "50%" }, { nodes: "0", reasons: ["Empty"] }] },
        { ...consolidation, budgets: [{ nodes: "0", reasons: ["Drifted", "Underutilized"] }, { nodes: "50%" }] },
      ],
    ])("remove them, and only the one that is meant: %s", async (what, disruption, wanted) => {
      const name = what.replaceAll(/[^a-z]+/gi, "-").toLowerCase();
      const path = "/apis/karpenter.sh/v1/nodepools";
      const spec = { disruption, template: { spec: { nodeClassRef, requirements } } };
      const made = await cluster().make(path, "NodePool", { metadata: { name }, spec });
      const read = decodeKarpenterNodePool(await cluster().admin.send("GET", `${path}/${name}`));
      if (!read.ok) throw new Error(read.problem.message);
      const { consolidationPolicy, consolidateAfterSeconds } = read.value;
      const parts = { name, consolidationPolicy, consolidateAfterSeconds, karpenter: read.value } as const;
      const pool = nodePoolView({ ...parts, manager: "karpenter" });
      const empty = emptyNodesOf(pool);
      if (empty.kind !== "kept") throw new Error(`${what}: ${empty.kind}`);
      const [step] = await cluster().accepted(removeEmptyNodes(pool, empty.by, 60));
      if (step === undefined) throw new Error("no step");
      await cluster().refusedForAnother(step, made.metadata.uid);
      expect((await cluster().sender.send(step.request, false)).status).toBe(200);
      expect(await cluster().admin.send("GET", `${path}/${name}`)).toMatchObject({ spec: { disruption: wanted } });
      // The object has changed since it was read.
      expect((await cluster().sender.send(step.request, false)).status).toBe(422);
    });
  });
}
