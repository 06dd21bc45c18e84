import type { OwnerRef } from "../../model/pod.ts";
import type { ApiRequest } from "../../model/recommendation.ts";
import { isObjectName, isUid } from "./resourceRef.ts";

/**
 * A Command of Volcano (`bus.volcano.sh/v1alpha1`), that requests an action of its controllers on a Job or Queue: written as
 * `vcctl` writes it (pkg/cli/util, pkg/cli/queue). It names its target by uid and goes away with it.
 */
export function volcanoCommand(
  namespace: string,
  action: "AbortJob" | "ResumeJob" | "OpenQueue",
  target: OwnerRef,
): ApiRequest | null {
  if (!isObjectName(namespace) || !isObjectName(target.name) || !isUid(target.uid)) return null;
  const { apiVersion, kind, name, uid } = target;
  const reference = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
  return {
    verb: "POST",
    path: `/apis/bus.volcano.sh/v1alpha1/namespaces/${encodeURIComponent(namespace)}/commands`,
    contentType: "application/json",
    body: {
      apiVersion: "bus.volcano.sh/v1alpha1",
      kind: "Command",
      metadata: { generateName: `${name}-${action.toLowerCase()}-`, ownerReferences: [reference] },
      target: reference,
      action,
    },
  };
}
