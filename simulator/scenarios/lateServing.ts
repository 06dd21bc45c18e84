import type { Scenario, ServesSpec, WorkloadSpec } from "../scenario.ts";
import { adviceScenario, lasting, wholeNodes } from "./advice/parts.ts";
import { workloadOf } from "./parts.ts";

const server = (namespace: string, serves: Partial<ServesSpec>): WorkloadSpec =>
  workloadOf(
    "Deployment",
    namespace,
    1,
    { kind: "physicalGpus", count: 4 },
    { kind: "constant", level: 0.9 },
    { models: ["H100"], serves: { server: "vllm", requestsPerSecond: 2, ...serves } },
  );

/**
 * Servers of three teams. The first tokens of one take four seconds while requests wait, those of another take as long while
 * none waits, and those of the third take a tenth of a second although some wait. A fourth team holds four GPUs that it never
 * used.
 */
export function lateServingScenario(): Scenario {
  const unused = workloadOf(
    "Deployment",
    "unused",
    1,
    { kind: "physicalGpus", count: 4 },
    { kind: "constant", level: 0 },
    { models: ["H100"] },
  );
  return adviceScenario("late-serving", {
    warmupSeconds: 0,
    nodes: wholeNodes("h100", 2, "H100"),
    namespaces: ["late", "slow", "quick", "unused"].map((name) => ({ name, team: name })),
    habits: [
      lasting("chat", server("late", { firstTokenSeconds: 4, waiting: 12 }), 1),
      lasting("chat", server("slow", { firstTokenSeconds: 4 }), 1),
      lasting("chat", server("quick", { firstTokenSeconds: 0.1, waiting: 3 }), 1),
      lasting("train", unused, 1),
    ],
  });
}
