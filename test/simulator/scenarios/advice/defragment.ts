import type { Scenario } from "../../../../simulator/scenario.ts";
import { adviceScenario, coming, wholeNodes } from "../../../../simulator/scenarios/advice/parts.ts";
import { workloadOf } from "../../../../simulator/scenarios/parts.ts";

/**
 * Eight nodes of eight A100 whose scheduler spreads. Small services are a few on each node, so that a training pod of
 * eight GPUs fits nowhere although most GPUs are free. The services have lower priority than the training, are made again by
 * their Deployments, and may miss one replica.
 *
 * Good advice: move the services of the emptiest node to others, each away from its own twin.
 */
export function defragmentScenario(): Scenario {
  const low = { kind: "bursts", level: 0.7, duty: 0.6 } as const;
  const busy = { kind: "steady", level: 0.92 } as const;
  return adviceScenario("defragment", {
    nodes: wholeNodes("a100", 8, "A100"),
    namespaces: [
      { name: "inference", team: "inference" },
      { name: "vision", team: "vision" },
    ],
    placement: "spread",
    habits: [
      coming("embedder", workloadOf("Deployment", "inference", 2, { kind: "physicalGpus", count: 1 }, low), {
        initial: 10,
        everySeconds: 7_200,
        maxWaiting: 1,
        runSeconds: [43_200, 172_800],
      }),
      coming(
        "trainer",
        workloadOf("PyTorchJob", "vision", 1, { kind: "physicalGpus", count: 8 }, busy, {
          priorityClass: "training",
          checkpointSeconds: 1_800,
        }),
        { initial: 1, everySeconds: 5_400, maxWaiting: 2, runSeconds: [10_800, 28_800] },
      ),
    ],
  });
}
