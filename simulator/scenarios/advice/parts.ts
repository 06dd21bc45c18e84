import type { GpuModelName } from "../../gpuModels.ts";
import type { ClusterQueueSpec, KueueSpec } from "../../queues/spec.ts";
import { noQueueing } from "../../queues/spec.ts";
import type { Habit, NodeSpec, Scenario, WorkloadSpec } from "../../scenario.ts";
import { gpuNode, physicalGpus, workloadOf } from "../parts.ts";

/** A scenario for one piece of advice; parts that are not given are as plain as possible. */
export function adviceScenario(
  name: string,
  parts: Pick<Scenario, "nodes" | "namespaces" | "habits"> & Partial<Scenario>,
): Scenario {
  return {
    name: `advice-${name}`,
    priorityClasses: { serving: 10_000, training: 1_000, "best-effort": 100 },
    placed: [],
    queueing: noQueueing,
    placement: "pack",
    warmupSeconds: 7_200,
    collectionInterval: 30,
    stepSeconds: 30,
    faults: [],
    ...parts,
  };
}

/** Nodes `PREFIX-01` and so on, with eight GPUs unless `gpus` says otherwise. */
export function wholeNodes(
  prefix: string,
  count: number,
  model: GpuModelName,
  changes: Partial<NodeSpec> & { readonly gpus?: number } = {},
): readonly NodeSpec[] {
  const { gpus = 8, ...node } = changes;
  return Array.from({ length: count }, (_, i) =>
    gpuNode(`${prefix}-${String(i + 1).padStart(2, "0")}`, model, gpus, { kind: "whole" }, node),
  );
}

/** A habit of work that is there from the beginning and stays. */
export function lasting(name: string, workload: Habit["workload"], initial: number): Habit {
  return { name, workload, initial, everySeconds: null, maxWaiting: 0, runSeconds: null, failRatio: 0 };
}

/** A habit of work that comes and ends. */
export function coming(
  name: string,
  workload: Habit["workload"],
  rhythm: Pick<Habit, "initial" | "everySeconds" | "maxWaiting" | "runSeconds"> & Partial<Pick<Habit, "failRatio">>,
): Habit {
  return { name, workload, failRatio: 0, ...rhythm };
}

/** A busy job of two pods with four H100 each that start together; it makes a checkpoint every half hour. */
export function checkpointedJob(team: string, priorityClass: string): WorkloadSpec {
  const busy = { kind: "steady", level: 0.9 } as const;
  return workloadOf("PyTorchJob", team, 2, physicalGpus(4), busy, {
    queue: team,
    gang: true,
    models: ["H100"],
    priorityClass,
    checkpointSeconds: 1_800,
  });
}

/**
 * Kueue with one flavor and one cohort, or without a cohort (`null`); every queue serves the namespace of its name, unless one
 * is given.
 */
export function oneCohort(
  flavor: string,
  model: GpuModelName,
  queues: readonly (Pick<ClusterQueueSpec, "name" | "reclaimWithinCohort"> & {
    readonly nominal: number;
    readonly borrowingLimit?: number;
    readonly namespace?: string;
  })[],
  cohort: string | null = "all",
): KueueSpec {
  return {
    fairSharing: false,
    flavors: [{ name: flavor, model }],
    cohorts: cohort === null ? [] : [{ name: cohort, parent: null, weight: 1, quotas: [] }],
    clusterQueues: queues.map(({ name, reclaimWithinCohort, nominal, borrowingLimit = null, namespace = name }) => ({
      name,
      cohort,
      weight: 1,
      quotas: [{ flavor, nominal, borrowingLimit, lendingLimit: null }],
      strategy: "BestEffortFIFO" as const,
      reclaimWithinCohort,
      namespaces: [namespace],
    })),
  };
}
