import type { Scenario } from "../../../../simulator/scenario.ts";
import { adviceScenario, coming, wholeNodes } from "../../../../simulator/scenarios/advice/parts.ts";
import { workloadOf } from "../../../../simulator/scenarios/parts.ts";

/**
 * Six busy nodes of eight A100. After ten minutes the exporter of one node answers with an empty page, after twenty that of
 * another shows the same values for ever: sixteen GPUs are allocated and nobody sees what they do. A restart of the exporter's pod
 * fixes both.
 *
 * Good advice: restart the exporters of these two nodes.
 */
export function fixSourceScenario(): Scenario {
  const busy = { kind: "steady", level: 0.9 } as const;
  return adviceScenario("fix-source", {
    nodes: wholeNodes("a100", 6, "A100"),
    namespaces: [
      { name: "vision", team: "vision" },
      { name: "speech", team: "speech" },
    ],
    habits: ["vision", "speech"].map((team) =>
      coming(
        `${team}-job`,
        workloadOf("PyTorchJob", team, 1, { kind: "physicalGpus", count: 4 }, busy, { checkpointSeconds: 1_800 }),
        {
          initial: 6,
          everySeconds: 2_400,
          maxWaiting: 2,
          runSeconds: [10_800, 21_600],
        },
      ),
    ),
    laterFaults: [
      { afterSeconds: 600, fault: { kind: "exporter-empty", target: { node: "a100-02" }, endsWithRestart: true } },
      { afterSeconds: 1_200, fault: { kind: "exporter-frozen", target: { node: "a100-05" }, endsWithRestart: true } },
    ],
  });
}
