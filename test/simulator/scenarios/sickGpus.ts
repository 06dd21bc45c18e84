import type { Scenario } from "../../../simulator/scenario.ts";
import { adviceScenario, lasting, wholeNodes } from "../../../simulator/scenarios/advice/parts.ts";
import { gpuNode, workloadOf } from "../../../simulator/scenarios/parts.ts";

const busy = { kind: "constant", level: 0.9 } as const;

/** Teams whose GPUs the device plugin speaks for, and one whose GPUs a DRA driver speaks for. */
const teams = ["ecc", "remap", "norows", "crash", "fault", "stopped"] as const;
const draTeams = ["claims", "cleanup"] as const;

/**
 * One job with eight busy GPUs for each team, alone on its node, so that each can have another XID error: of the GPU, or of the
 * job. Two of the nodes give their GPUs out by a DRA driver. Nobody holds the last node.
 */
export function sickGpusScenario(): Scenario {
  const options = { checkpointSeconds: 1_800 } as const;
  const whole = { kind: "physicalGpus", count: 8 } as const;
  const claim = { kind: "claim", count: 8, shared: false } as const;
  return adviceScenario("sick-gpus", {
    warmupSeconds: 600,
    nodes: [
      ...wholeNodes("h100", teams.length + 1, "H100"),
      ...draTeams.map((_, i) => gpuNode(`dra-0${i + 1}`, "H100", 8, { kind: "dra", monitoringClaim: false })),
    ],
    namespaces: [...teams, ...draTeams].map((name) => ({ name, team: name })),
    habits: [
      ...teams.map((team) => lasting("train", workloadOf("Job", team, 1, whole, busy, options), 1)),
      ...draTeams.map((team) => lasting("train", workloadOf("Job", team, 1, claim, busy, options), 1)),
    ],
  });
}
