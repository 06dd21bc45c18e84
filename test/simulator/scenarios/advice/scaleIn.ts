import type { Scenario } from "../../../../simulator/scenario.ts";
import { adviceScenario, coming, lasting, wholeNodes } from "../../../../simulator/scenarios/advice/parts.ts";
import { karpenterLabels, workloadOf } from "../../../../simulator/scenarios/parts.ts";

/**
 * Four nodes that are always used and six of a Karpenter pool for batches, which keeps its nodes for ever
 * (`consolidateAfter: Never`): since the last big batch most of them are empty, and small ones need one or two.
 *
 * Good advice: let the empty nodes of the pool go, but as many as the small batches need.
 */
export function scaleInScenario(): Scenario {
  const busy = { kind: "steady", level: 0.9 } as const;
  const serving = { kind: "day", low: 0.4, high: 0.9 } as const;
  const batch = { instanceType: "p4de.24xlarge", zone: "eu-west-1a", labels: karpenterLabels("batch", "on-demand") };
  return adviceScenario("scale-in", {
    nodes: [
      ...wholeNodes("h100", 4, "H100", { instanceType: "p5.48xlarge", zone: "eu-west-1a" }),
      ...wholeNodes("batch", 6, "A100", batch),
    ],
    nodePools: [
      {
        name: "batch",
        limits: { "nvidia.com/gpu": "48" },
        capacityTypes: ["on-demand"],
        consolidateAfter: "Never",
      },
    ],
    autoscaledPools: ["batch"],
    namespaces: [
      { name: "chat", team: "chat" },
      { name: "reports", team: "reports" },
    ],
    habits: [
      lasting(
        "chat",
        workloadOf("Deployment", "chat", 4, { kind: "physicalGpus", count: 8 }, serving, { models: ["H100"] }),
        1,
      ),
      coming(
        "report",
        workloadOf("PyTorchJob", "reports", 1, { kind: "physicalGpus", count: 4 }, busy, { models: ["A100"] }),
        {
          initial: 1,
          everySeconds: 5_400,
          maxWaiting: 1,
          runSeconds: [3_600, 7_200],
        },
      ),
    ],
  });
}
