import type { Scenario } from "../../../../simulator/scenario.ts";
import { adviceScenario, lasting, wholeNodes } from "../../../../simulator/scenarios/advice/parts.ts";
import { workloadOf } from "../../../../simulator/scenarios/parts.ts";

/**
 * Three nodes of eight H100, with servers of one GPU on the first. After ten minutes one of their GPUs has an uncorrectable memory
 * error: the device plugin takes it out, its server stops and stays where it is, and the GPU is not reset while others are busy
 * on the node.
 *
 * Good advice: cordon the node, and evict the server, which then runs on another node.
 */
export function drainNodeScenario(): Scenario {
  const busy = { kind: "steady", level: 0.9 } as const;
  const one = { kind: "physicalGpus", count: 1 } as const;
  return adviceScenario("drain-node", {
    nodes: wholeNodes("h100", 3, "H100"),
    namespaces: [{ name: "search", team: "search" }],
    habits: [lasting("ranker", workloadOf("Deployment", "search", 6, one, busy), 1)],
    laterFaults: [{ afterSeconds: 600, fault: { kind: "gpu-xid", node: "h100-01", physicalGpu: 0, code: 48 } }],
  });
}
