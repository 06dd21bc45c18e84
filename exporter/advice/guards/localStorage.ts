import type { Guard } from "./guard.ts";
import { podName } from "./guard.ts";

/** The content of a volume on the node would be lost. */
export const localStorage: Guard = ({ pods }) =>
  pods
    .filter(({ pod }) => pod.disruption.hasLocalStorage)
    .map(({ index, pod }) => ({
      pod: index,
      reason: `${podName(pod)} keeps data in a volume of its node (hostPath or emptyDir), which would be lost.`,
    }));
