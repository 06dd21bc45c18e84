import type { Scenario } from "../../../../simulator/scenario.ts";
import { adviceScenario, coming, lasting, wholeNodes } from "../../../../simulator/scenarios/advice/parts.ts";
import { workloadOf } from "../../../../simulator/scenarios/parts.ts";

/**
 * Six nodes of eight A100. Four services ask for four GPUs and have never used more than one of them; two others ask for two
 * and use both. Training waits for what the first ones hold.
 *
 * Good advice: let the four services ask for one GPU (or two), and leave the others.
 */
export function rightSizeScenario(): Scenario {
  const busy = { kind: "steady", level: 0.9 } as const;
  const serving = { kind: "bursts", level: 0.8, duty: 0.8 } as const;
  // Who restarts a service wants it back before the next training.
  const first = { priorityClass: "serving" };
  return adviceScenario("right-size", {
    nodes: wholeNodes("a100", 6, "A100"),
    namespaces: [
      { name: "assistants", team: "assistants" },
      { name: "vision", team: "vision" },
    ],
    habits: [
      lasting(
        "oversized",
        workloadOf("Deployment", "assistants", 1, { kind: "physicalGpus", count: 4 }, serving, {
          busyGpus: 1,
          ...first,
        }),
        4,
      ),
      lasting(
        "fitting",
        workloadOf("Deployment", "assistants", 1, { kind: "physicalGpus", count: 2 }, serving, first),
        2,
      ),
      coming(
        "trainer",
        workloadOf("PyTorchJob", "vision", 1, { kind: "physicalGpus", count: 4 }, busy, { checkpointSeconds: 1_800 }),
        {
          initial: 8,
          everySeconds: 900,
          maxWaiting: 3,
          runSeconds: [10_800, 21_600],
        },
      ),
    ],
  });
}
