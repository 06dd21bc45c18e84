import type { OwnerRef } from "../../model/pod.ts";
import { type Guard, podName } from "./guard.ts";

/**
 * Controllers that make a new pod when one is evicted, by API group and kind. Other controllers may do so, too, but that is
 * not known.
 */
const makers: ReadonlySet<string> = new Set([
  "ReplicationController",
  "apps/ReplicaSet",
  "apps/StatefulSet",
  "batch/Job",
  "batch.volcano.sh/Job",
  "kubeflow.org/JAXJob",
  "kubeflow.org/MPIJob",
  "kubeflow.org/PaddleJob",
  "kubeflow.org/PyTorchJob",
  "kubeflow.org/TFJob",
  "kubeflow.org/XGBoostJob",
  "ray.io/RayCluster",
]);

/** A pod that nothing recreates is never taken; nor is one that its DaemonSet puts back onto the same node. */
export const owner: Guard = ({ pods, by }) =>
  pods.flatMap(({ index, pod }) => {
    const reason = objectionTo(pod.owner, by === "eviction");
    return reason === null ? [] : [{ pod: index, reason: `${podName(pod)} ${reason}.` }];
  });

function objectionTo(of: OwnerRef | null, isEvicted: boolean): string | null {
  if (of === null) return "has no controller: nobody would make it again";
  if (of.kind === "DaemonSet") return `belongs to DaemonSet ${of.name}, which puts it back onto the same node`;
  if (of.kind === "Node") return "is made by the kubelet of its node";
  if (!isEvicted || makers.has(`${groupOf(of)}${of.kind}`)) return null;
  return `belongs to ${of.kind} ${of.name}: whether that makes a new pod after an eviction is not known`;
}

/** The API group of an owner with a slash: `apps/` for `apps/v1`; empty for `v1`. */
function groupOf({ apiVersion }: OwnerRef): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash + 1);
}

/** A pod is left alone if an annotation of the pod or of its owner asks for that. */
export const doNotDisrupt: Guard = ({ pods }) =>
  pods.flatMap(({ index, pod }) => {
    const { forbiddenBy } = pod.disruption;
    if (forbiddenBy === null) return [];
    return [{ pod: index, reason: `${podName(pod)} asks not to be disrupted (annotation ${forbiddenBy}).` }];
  });

/** A pod with a volume on its node is left alone: the content would be lost. */
export const localStorage: Guard = ({ pods }) =>
  pods
    .filter(({ pod }) => pod.disruption.hasLocalStorage)
    .map(({ index, pod }) => ({
      pod: index,
      reason: `${podName(pod)} keeps data in a volume of its node (hostPath or emptyDir), which would be lost.`,
    }));

/** A static pod comes from a file on its node: the API shows a mirror of it and can neither move nor stop it. */
export const staticPod: Guard = ({ pods }) =>
  pods
    .filter(({ pod }) => pod.disruption.isStatic)
    .map(({ index, pod }) => ({
      pod: index,
      reason: `${podName(pod)} is a static pod of node ${pod.node ?? "unknown"}: only its kubelet can stop it.`,
    }));
