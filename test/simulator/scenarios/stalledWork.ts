import { deviceProfiles } from "../../../simulator/deviceProfiles.ts";
import type { Scenario, WorkloadSpec } from "../../../simulator/scenario.ts";
import { adviceScenario, lasting, wholeNodes } from "../../../simulator/scenarios/advice/parts.ts";
import { exporterOf, gpuNode, workloadOf } from "../../../simulator/scenarios/parts.ts";

const busy = { kind: "constant", level: 0.98 } as const;
const eight = { kind: "physicalGpus", count: 8 } as const;
const hour = 3600;

const onWholeNode = (namespace: string, changes: Partial<WorkloadSpec> = {}, pods = 1): WorkloadSpec =>
  workloadOf("PyTorchJob", namespace, pods, eight, busy, { models: ["H100"], checkpointSeconds: 1_800, ...changes });

/**
 * A gang of two nodes and a job of one that hang after an hour, and what is easily taken for such work, each on a node of its
 * own: memory-bound, moving data, FP64, pausing for a checkpoint each half hour, a server that waits busily, hung work for
 * which the exporter has no profiling fields, on a part of a GPU, on a MIG instance.
 */
export function stalledWorkScenario(): Scenario {
  const { memoryBound, moving, doublePrecision } = deviceProfiles;
  const hung = { hangsAfterSeconds: hour } as const;
  const teams = ["gang", "alone", "memory", "mover", "solver", "pauses", "server", "dark", "shared", "mig"];
  const plain = exporterOf("3.3", { counters: "default" });
  return adviceScenario("stalled-work", {
    warmupSeconds: 0,
    nodes: [
      ...wholeNodes("h100", 8, "H100"),
      gpuNode("dark-01", "A100", 8, { kind: "whole" }, { exporter: plain }),
      gpuNode("shared-01", "A100", 4, { kind: "time-slicing", replicas: 2, renamed: false }),
      gpuNode("mig-01", "A100", 1, { kind: "mig-mixed", layouts: [["3g.40gb", "3g.40gb"]] }),
    ],
    namespaces: teams.map((name) => ({ name, team: name })),
    habits: [
      lasting("rank", onWholeNode("gang", { ...hung, gang: true }, 2), 1),
      lasting("finetune", workloadOf("Job", "alone", 1, eight, busy, { ...hung, models: ["H100"] }), 1),
      lasting("decode", onWholeNode("memory", { profile: memoryBound }), 1),
      lasting("load", onWholeNode("mover", { profile: moving }), 1),
      lasting("flow", onWholeNode("solver", { profile: doublePrecision }), 1),
      lasting("pretrain", { ...onWholeNode("pauses"), activity: { kind: "steady", level: 0.95 } }, 1),
      lasting("chat", workloadOf("Deployment", "server", 1, eight, busy, { ...hung, models: ["H100"] }), 1),
      lasting("blind", workloadOf("Job", "dark", 1, eight, busy, { ...hung, models: ["A100"] }), 1),
      lasting(
        "notes",
        workloadOf(
          "Job",
          "shared",
          1,
          { kind: "replicas", count: 1, strategy: "time-slicing", renamed: false },
          busy,
          hung,
        ),
        8,
      ),
      lasting(
        "slice",
        workloadOf("Job", "mig", 1, { kind: "mig", profile: "3g.40gb", count: 1, strategy: "mig-mixed" }, busy, hung),
        2,
      ),
    ],
  });
}
