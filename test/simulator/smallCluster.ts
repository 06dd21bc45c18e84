import { noQueueing } from "../../simulator/queues/spec.ts";
import type { Habit, Scenario, WorkloadKind, WorkloadSpec } from "../../simulator/scenario.ts";
import { gpuNode, workloadOf } from "../../simulator/scenarios/parts.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";

/** Two nodes of four A100 and one namespace `team`, with work that is there from the beginning. */
export function smallCluster(habits: readonly Habit[], changes: Partial<Scenario> = {}): Scenario {
  return {
    name: "small",
    nodes: ["n1", "n2"].map((name) => gpuNode(name, "A100", 4, { kind: "whole" })),
    namespaces: [{ name: "team", team: "team" }],
    priorityClasses: { low: 1, high: 100 },
    habits,
    placed: [],
    queueing: noQueueing,
    placement: "pack",
    warmupSeconds: 600,
    collectionInterval: 30,
    faults: [],
    ...changes,
  };
}

/** One workload of a kind in namespace `team`, whose pods ask for one GPU each and run for ever. */
export function one(
  kind: WorkloadKind,
  pods: number,
  changes: Partial<WorkloadSpec> = {},
  more: Partial<Habit> = {},
): Habit {
  const busy = { kind: "constant", level: 0.8 } as const;
  return {
    name: kind.toLowerCase(),
    workload: workloadOf(kind, "team", pods, { kind: "physicalGpus", count: 1 }, busy, changes),
    initial: 1,
    everySeconds: null,
    maxWaiting: 0,
    runSeconds: null,
    failRatio: 0,
    ...more,
  };
}

/** Plays a scenario for a test, and stops it whatever happens. */
export async function withSimulator(scenario: Scenario, play: (simulator: Simulator) => Promise<void>): Promise<void> {
  const simulator = await startSimulator({ scenario, seed: 7, startAt: 1_795_000_000 });
  try {
    await play(simulator);
  } finally {
    await simulator.stop();
  }
}
