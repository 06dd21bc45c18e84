import { apiGroup } from "../model/apiGroup.ts";
import type { ScaleTarget } from "../model/autoscalers.ts";
import type { Snapshot, WorkloadView } from "./snapshot.ts";

/** The fields of a workload that show what scales it. */
export type Scaled = Pick<WorkloadView, "namespace" | "owners">;

/** The autoscalers that scale one of the owners of a workload, by name, so that messages do not depend on their order. */
export function targeting<
  One extends { readonly namespace: string; readonly name: string; readonly target: ScaleTarget },
>(all: readonly One[], { namespace, owners }: Scaled): readonly One[] {
  return all
    .filter((one) => one.namespace === namespace && owners.some((owner) => isTarget(one.target, owner)))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** Whether an autoscaler's target is this owner. Versions of one API group are the same object. */
function isTarget(target: ScaleTarget, owner: ScaleTarget): boolean {
  if (target.kind !== owner.kind || target.name !== owner.name) return false;
  return target.apiVersion === "" || apiGroup(target.apiVersion) === apiGroup(owner.apiVersion);
}

/** The most replicas that an autoscaler allows. */
export interface ScaleLimit {
  /** Kind, namespace and name of the autoscaler, such as `ScaledObject chat/llm`. */
  readonly by: string;
  readonly maxReplicas: number;
}

/** The least of the limits of a workload's autoscalers; `null`: none is known. */
export function scaleLimit({ autoscalers }: Pick<Snapshot, "autoscalers">, workload: Scaled): ScaleLimit | null {
  const { horizontal, scaledObjects } = autoscalers;
  const all = [
    ...targeting(scaledObjects ?? [], workload).map((one) => ({ kind: "ScaledObject", ...one })),
    ...targeting(horizontal ?? [], workload).map((one) => ({ kind: "HorizontalPodAutoscaler", ...one })),
  ];
  const limits = all.flatMap(({ kind, namespace, name, maxReplicas }): readonly ScaleLimit[] =>
    maxReplicas === null ? [] : [{ by: `${kind} ${namespace}/${name}`, maxReplicas }],
  );
  return limits.sort((one, other) => one.maxReplicas - other.maxReplicas)[0] ?? null;
}
