import type { Scenario } from "../../../../simulator/scenario.ts";
import { adviceScenario, coming, lasting, wholeNodes } from "../../../../simulator/scenarios/advice/parts.ts";
import { gpuNode, workloadOf } from "../../../../simulator/scenarios/parts.ts";

/**
 * Four nodes of eight whole A100, and two that are cut into seven small instances a GPU, mostly free. A dozen small services
 * hold a whole A100 each for less than a tenth of it and 4 GiB, while training waits for whole GPUs.
 *
 * Good advice: let the small services ask for an instance (`nvidia.com/mig-1g.10gb`) instead of a GPU.
 */
export function shareGpuScenario(): Scenario {
  const busy = { kind: "steady", level: 0.9 } as const;
  const small = { kind: "constant", level: 0.06 } as const;
  const layout = Array.from({ length: 7 }, () => "1g.10gb");
  const mig = { kind: "mig-mixed", layouts: [layout] } as const;
  return adviceScenario("share-gpu", {
    nodes: [...wholeNodes("a100", 4, "A100"), gpuNode("mig-01", "A100", 4, mig), gpuNode("mig-02", "A100", 4, mig)],
    namespaces: [
      { name: "tools", team: "tools" },
      { name: "vision", team: "vision" },
    ],
    habits: [
      lasting(
        "reranker",
        workloadOf("Deployment", "tools", 1, { kind: "physicalGpus", count: 1 }, small, {
          models: ["A100"],
          gpuMemoryMiB: 4_096,
          priorityClass: "serving",
        }),
        12,
      ),
      coming(
        "asr",
        workloadOf("PyTorchJob", "vision", 1, { kind: "physicalGpus", count: 4 }, busy, { models: ["A100"] }),
        {
          initial: 5,
          everySeconds: 900,
          maxWaiting: 3,
          runSeconds: [10_800, 21_600],
        },
      ),
    ],
  });
}
