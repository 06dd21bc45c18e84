import type { Workload } from "../cluster/world.ts";
import type { Scenario, WorkloadSpec } from "../scenario.ts";
import type { QueueSystemName } from "./spec.ts";

/** The system whose queue a workload names; `null` where the workload names no queue, or one that no system has. */
export function systemOf({ queueing }: Scenario, spec: WorkloadSpec): QueueSystemName | null {
  const { queue, namespace } = spec;
  if (queue === null) return null;
  const isKueue = queueing.kueue?.clusterQueues.some(
    (each) => each.name === queue && each.namespaces.includes(namespace),
  );
  if (isKueue === true) return "kueue";
  if (queueing.kai?.queues.some((each) => each.name === queue) === true) return "kai";
  return queueing.volcano?.queues.some((each) => each.name === queue) === true ? "volcano" : null;
}

const suspendable: ReadonlySet<WorkloadSpec["kind"]> = new Set(["Job", "JobSet", "PyTorchJob"]);

/** Whether a workload's pods are made only when it is admitted: Kueue suspends jobs, and gates plain pods. */
export function isSuspended(scenario: Scenario, spec: WorkloadSpec): boolean {
  return systemOf(scenario, spec) === "kueue" && suspendable.has(spec.kind);
}

/** The GPUs that all pods of a workload ask for: whole GPUs or fractions; 0 for requests that quotas of queues do not count. */
export function askedGpus({ request, pods }: WorkloadSpec): number {
  if (request.kind === "physicalGpus") return request.count * pods;
  return request.kind === "fraction" ? request.share * pods : 0;
}

/** The queue systems that are installed. */
export function systemsOf({ queueing }: Scenario): ReadonlySet<QueueSystemName> {
  const systems = new Set<QueueSystemName>();
  if (queueing.kueue !== null) systems.add("kueue");
  if (queueing.kai !== null) systems.add("kai");
  if (queueing.volcano !== null) systems.add("volcano");
  return systems;
}

/** The name of a workload's PodGroup, of KAI or Volcano. */
export function podGroupName({ name, uid, system }: Pick<Workload, "name" | "uid" | "system">): string {
  if (system === "volcano") return `podgroup-${uid}`;
  return `pg-${name}-${uid}`;
}
