import type { TextMap } from "../../model/node.ts";
import { podAnnotations } from "../../model/wellKnown.ts";
import { child, has, items, type Place, text } from "./fields.ts";

/** `spec.volumes[].emptyDir.medium` of what is not on a disk. */
const memoryMedium = "Memory";

/**
 * Whether a pod loses what it has on its node when it moves, as the Cluster Autoscaler judges it (`HasBlockingLocalStorage`
 * in cluster-autoscaler/utils/drain): a `hostPath`, or an `emptyDir` that is not memory, whose name the annotation
 * `cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes` does not hold. Ephemeral volumes and claims may be on a
 * disk of the node, too; that cannot be distinguished from the pod.
 */
export function hasLocalStorage(spec: Place, annotations: TextMap): boolean {
  const local: string[] = [];
  for (const volume of items(spec, "volumes")) {
    const isDisk = has(volume, "emptyDir") && text(child(volume, "emptyDir"), "medium") !== memoryMedium;
    if (isDisk || has(volume, "hostPath")) local.push(text(volume, "name") ?? "");
  }
  if (local.length === 0) return false;
  // Names are not trimmed there.
  const safe = annotations[podAnnotations.safeToEvictLocalVolumes]?.split(",") ?? [];
  return local.some((name) => !safe.includes(name));
}
