import type { Guard } from "./guard.ts";
import { podName } from "./guard.ts";

/** A static pod comes from a file on its node: the API shows a mirror of it and can neither move nor stop it. */
export const staticPod: Guard = ({ pods }) =>
  pods
    .filter(({ pod }) => pod.disruption.isStatic)
    .map(({ index, pod }) => ({
      pod: index,
      reason: `${podName(pod)} is a static pod of node ${pod.node ?? "unknown"}: only its kubelet can stop it.`,
    }));
