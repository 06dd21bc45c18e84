import type { Scenario, WorkloadSpec } from "../../../../simulator/scenario.ts";
import { adviceScenario, coming, wholeNodes } from "../../../../simulator/scenarios/advice/parts.ts";
import { workloadOf } from "../../../../simulator/scenarios/parts.ts";

/**
 * Three nodes of eight H100, and four of L4 with other work. When a big training ended, two LeaderWorkerSets of four pods
 * wanted its place at the same time; the scheduler bound their pods one by one, so that each has three and waits for its
 * fourth, for ever: 24 GPUs are allocated and compute nothing.
 *
 * Good advice: restart one of the two (or scale it to nothing until the other is done), so that the other is whole.
 */
export function unblockGangScenario(): Scenario {
  const busy = { kind: "steady", level: 0.9 } as const;
  const eight = { kind: "physicalGpus", count: 8 } as const;
  return adviceScenario("unblock-gang", {
    nodes: [...wholeNodes("h100", 3, "H100"), ...wholeNodes("l4", 4, "L4", { gpus: 4 })],
    namespaces: [
      { name: "evals", team: "evals" },
      { name: "agents", team: "agents" },
      { name: "tools", team: "tools" },
    ],
    habits: [
      coming(
        "foundation",
        workloadOf("JobSet", "evals", 3, eight, busy, { gang: true, models: ["H100"], priorityClass: "training" }),
        { initial: 1, everySeconds: null, maxWaiting: 0, runSeconds: [3_000, 6_000] },
      ),
      coming("judge", group("evals"), { initial: 1, everySeconds: 7_200, maxWaiting: 1, runSeconds: [7_200, 14_400] }),
      coming("rollout", group("agents"), {
        initial: 1,
        everySeconds: 7_200,
        maxWaiting: 1,
        runSeconds: [7_200, 14_400],
      }),
      coming("crawl", workloadOf("Job", "tools", 1, { kind: "physicalGpus", count: 1 }, busy, { models: ["L4"] }), {
        initial: 8,
        everySeconds: 900,
        maxWaiting: 2,
        runSeconds: [3_600, 14_400],
      }),
    ],
  });
}

function group(namespace: string): WorkloadSpec {
  const busy = { kind: "steady", level: 0.85 } as const;
  return workloadOf("LeaderWorkerSet", namespace, 4, { kind: "physicalGpus", count: 4 }, busy, {
    needsAll: true,
    models: ["H100"],
    priorityClass: "training",
  });
}
