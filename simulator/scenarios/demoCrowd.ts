import type { PlacedPod } from "../scenario.ts";
import { physicalGpus, workloadOf } from "./parts.ts";

/** Pods without GPUs that leave the GPUs beside them without CPU, and the pod that therefore fits nowhere. */
export function crowdedPods(): readonly PlacedPod[] {
  const [still, busy] = [{ kind: "constant", level: 0 } as const, { kind: "steady", level: 0.9 } as const];
  const crowd = { models: ["A100"], cpuMilli: 136_000 } as const;
  const preprocess = workloadOf("Pod", "vision-train", 1, { kind: "none" }, still, crowd);
  const pretrain = workloadOf("Job", "vision-train", 1, physicalGpus(8), busy, { models: ["A100"] });
  const nodes = ["a100-01", "a100-02", "a100-03", "a100-04", "a100-07", "a100-08"];
  return [
    ...nodes.map((node, i) => ({
      name: `preprocess-${i + 1}`,
      workload: preprocess,
      node,
      physicalGpus: [],
      ageSeconds: 7200,
    })),
    { name: "pretrain-0", workload: pretrain, node: null, physicalGpus: [], ageSeconds: 600 },
  ];
}
