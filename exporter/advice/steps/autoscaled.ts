import { type Scaled, targeting } from "../../join/scaledBy.ts";
import type { Snapshot, WorkloadView } from "../../join/snapshot.ts";
import type { HorizontalPodAutoscaler, ScaledObject, VerticalPodAutoscaler } from "../../model/autoscalers.ts";

/**
 * Why a workload must not be scaled to zero by hand: an autoscaler keeps some replicas or wakes it at once, or the workload
 * serves and it is unknown what would wake it. The text contains the setting to use instead. `null` if no autoscaler forbids
 * it.
 */
export function whyNotStop({ autoscalers }: Pick<Snapshot, "autoscalers">, workload: WorkloadView): string | null {
  const { horizontal, scaledObjects } = autoscalers;
  const [keda] = targeting(scaledObjects ?? [], workload);
  if (keda !== undefined) return keptByKeda(keda);
  const [autoscaler] = targeting(horizontal ?? [], workload);
  if (autoscaler !== undefined) return keptByHorizontal(autoscaler);
  if (horizontal !== null || workload.workloadClass !== "serving") return null;
  return "it serves requests, and autoscalers could not be read (horizontalpodautoscalers.autoscaling): nothing is known that would wake it";
}

/**
 * The autoscaler that restarts the pods of a workload by itself to give them other amounts of CPU and memory, in words; `null`:
 * none is known.
 */
export function resizedBy(
  { autoscalers }: Pick<Snapshot, "autoscalers">,
  workload: Scaled,
): VerticalPodAutoscaler | null {
  const acting = targeting(autoscalers.vertical ?? [], workload).filter(({ updateMode }) => !passive.has(updateMode));
  return acting[0] ?? null;
}

/** Modes in which a VerticalPodAutoscaler does not restart running pods. */
const passive: ReadonlySet<string> = new Set(["Off", "Initial"]);

function keptByKeda({ namespace, name, minReplicas, idleReplicas, wakingTriggers }: ScaledObject): string {
  const subject = `ScaledObject ${namespace}/${name}`;
  if (wakingTriggers === 0)
    return `${subject} scales it, and has no trigger that would wake it: only one that is not of CPU or memory starts a first replica`;
  const fewest = idleReplicas ?? minReplicas;
  if (fewest > 0)
    return `${subject} keeps at least ${replicas(fewest)}: set its ${idleReplicas === null ? "spec.minReplicaCount" : "spec.idleReplicaCount"} to 0, and its triggers wake it`;
  return `${subject} takes it to no replicas by itself when its triggers are idle: look at what keeps them active, and at its spec.cooldownPeriod`;
}

/** An HPA does nothing while its target has no replicas: scaling the target to zero by hand switches the autoscaler off. */
function keptByHorizontal({ namespace, name, minReplicas, owner }: HorizontalPodAutoscaler): string {
  const subject = `HorizontalPodAutoscaler ${namespace}/${name}`;
  if (owner !== null)
    return `${subject} of ${owner.kind} ${owner.name} keeps at least ${replicas(minReplicas)}: change the fewest replicas there, where it can also be woken`;
  if (minReplicas === 0)
    return `${subject} takes it to no replicas by itself: its metrics say that it is needed, so look at those`;
  const lower = minReplicas > 1 ? `lower its spec.minReplicas from ${minReplicas}, or ` : "";
  return `${subject} keeps at least ${replicas(minReplicas)} and would not wake it at none: ${lower}let KEDA scale it (minReplicaCount: 0 and a trigger that wakes it)`;
}

const replicas = (count: number): string => (count === 1 ? "1 replica" : `${count} replicas`);
