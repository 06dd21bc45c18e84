import type { Scenario } from "../../../../simulator/scenario.ts";
import { adviceScenario, coming, lasting, wholeNodes } from "../../../../simulator/scenarios/advice/parts.ts";
import { workloadOf } from "../../../../simulator/scenarios/parts.ts";

/**
 * Six nodes of eight A100. Notebooks and a forgotten StatefulSet hold two GPUs each and have not used them since they began;
 * other notebooks are used now and then. Training of two to four GPUs waits for room.
 *
 * Good advice: stop the forgotten ones, and leave those that are used, or ask about them.
 */
export function releaseIdleScenario(): Scenario {
  const never = { kind: "constant", level: 0 } as const;
  const busy = { kind: "steady", level: 0.9 } as const;
  const two = { kind: "physicalGpus", count: 2 } as const;
  return adviceScenario("release-idle", {
    // Who has never worked is known only by who has watched from the beginning.
    warmupSeconds: 0,
    nodes: wholeNodes("a100", 6, "A100"),
    namespaces: [
      { name: "notebooks", team: "notebooks" },
      { name: "speech", team: "speech" },
    ],
    habits: [
      lasting("forgotten", workloadOf("Notebook", "notebooks", 1, two, never), 5),
      lasting("scratchpad", workloadOf("StatefulSet", "notebooks", 1, two, never), 1),
      lasting("explore", workloadOf("Notebook", "notebooks", 1, two, { kind: "notebook", duty: 0.5 }), 2),
      coming(
        "asr",
        workloadOf("PyTorchJob", "speech", 1, { kind: "physicalGpus", count: 4 }, busy, { checkpointSeconds: 1_800 }),
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
